"""The gate of one flow as a part: its batches, and the keeper between them."""

from pyspark.sql import SparkSession

from holdfast.client.connection import Connection
from holdfast.flows.registry import FlowDefinition
from holdfast.pipeline.batches import GateQuery
from holdfast.pipeline.flow_gate import FlowGate
from holdfast.pipeline.keeper import Keeper
from holdfast.pipeline.lag import Lag
from holdfast.pipeline.metrics import Metrics
from holdfast.pipeline.steps import Counts
from holdfast.pipeline.ticket import Ticket


class GatePart:
    """Runs a flow's gate. When its place in the group is lost, the process ends."""

    def __init__(
        self,
        session: SparkSession,
        connection: Connection,
        flow: FlowDefinition,
        checkpoints: str,
        metrics: Metrics,
        ticket: Ticket,
        *,
        accept_loss: bool = False,
    ) -> None:
        self._flow = flow.name
        self._accept_loss = accept_loss
        self._metrics = metrics
        self._ticket = ticket
        self._gate = FlowGate(connection, flow, end=ticket.end)
        self._keeper = Keeper(self._gate)
        self._query = GateQuery(session, self._gate, checkpoints)
        self._lag = Lag(connection, flow.names.events, metrics, flow.name, "gate")
        self._counted = Counts()

    def start(self) -> None:
        self._ticket.take()
        self._gate.start(accept_loss=self._accept_loss)
        self._keeper.start()
        self._query.start()

    def change(self, flow: FlowDefinition) -> None:
        self._gate.change(flow)

    def failure(self) -> Exception | None:
        return self._query.failure() or self._keeper.error

    def settled(self) -> bool:
        return self._query.batches > 0

    def trouble(self) -> str | None:
        trouble = self._gate.trouble
        return self._query.waits_for if trouble is None else str(trouble)

    def measure(self) -> None:
        self._count(self._gate.counts)
        states = self._gate.states
        self._metrics.held_keys.labels(self._flow).set(sum(len(s.entries) for s in states))
        self._metrics.held_events.labels(self._flow).set(sum(s.events for s in states))
        self._metrics.held_bytes.labels(self._flow).set(sum(s.bytes for s in states))
        self._metrics.blocked.labels(self._flow).set(self._gate.blocked() is not None)
        for seconds, latency in self._query.take_measured():
            self._metrics.batch_seconds.labels(self._flow, "gate").observe(seconds)
            self._metrics.latency_seconds.labels(self._flow).observe(latency)
        self._lag.measure({s.partition: s.position.offset for s in states})

    def stop(self) -> None:
        self._query.stop()
        self._keeper.stop()
        self._gate.close()
        self._count(self._gate.counts)

    def _count(self, now: Counts) -> None:
        before, self._counted = self._counted, now
        metrics = self._metrics
        for metric, count in (
            (metrics.events_in, now.taken - before.taken),
            (metrics.events_out, now.passed + now.drained - before.passed - before.drained),
            (metrics.events_held, now.held - before.held),
            (metrics.events_drained, now.drained - before.drained),
            (metrics.events_dead_lettered, now.dead - before.dead),
        ):
            metric.labels(self._flow).inc(count)
