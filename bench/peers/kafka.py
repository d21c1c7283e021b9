"""Apache Kafka as its own start script runs it: the peer in benchmarks."""

from collections.abc import Sequence

from tests.brokers import ApacheKafka

from holdfast.jars import class_path

# KAFKA_HEAP_OPTS and KAFKA_JVM_PERFORMANCE_OPTS of Kafka's start script.
JVM = [
    "java", "-Xms1G", "-Xmx1G", "-server", "-XX:+UseG1GC", "-XX:MaxGCPauseMillis=20",
    "-XX:InitiatingHeapOccupancyPercent=35", "-XX:+ExplicitGCInvokesConcurrent",
    "-XX:MaxInlineLevel=15", "-Djava.awt.headless=true",
]  # fmt: skip

# What one node needs in order to be one node; everything else is Kafka's default.
NEEDED = {
    "process.roles", "node.id", "listeners", "advertised.listeners", "controller.listener.names",
    "controller.quorum.voters", "log.dirs", "offsets.topic.replication.factor",
    "transaction.state.log.replication.factor", "transaction.state.log.min.isr",
    "share.coordinator.state.topic.replication.factor", "share.coordinator.state.topic.min.isr",
}  # fmt: skip


class ProductionKafka(ApacheKafka):
    """Default settings and the JVM options of Kafka's own start script."""

    def _all_settings(self) -> dict[str, str]:
        everything = super()._all_settings()
        return {name: everything[name] for name in NEEDED | set(self.settings)}

    def _command(self) -> Sequence[str]:
        return [*JVM, "-cp", class_path("kafka"), "kafka.Kafka", str(self._properties)]
