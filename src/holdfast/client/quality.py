"""Keeping a report of quality where others find it: on the compacted topic `holdfast.quality`."""

from holdfast.client.cluster import describe_cluster
from holdfast.client.connection import Connection
from holdfast.client.producer import Producer
from holdfast.client.topics import Topics
from holdfast.errors import AlreadyExistsError
from holdfast.flows.quality import QUALITY_TOPIC, QualityReport, encode_quality
from holdfast.flows.topics import table_topic


def store_report(connection: Connection, report: QualityReport) -> None:
    """In place of the flow's last one. Returns once the broker has it."""
    plan = table_topic(QUALITY_TOPIC, len(describe_cluster(connection).brokers))
    try:
        Topics(connection).create(
            plan.name, partitions=plan.partitions, replication=plan.replication, config=plan.config
        )
    except AlreadyExistsError:
        pass
    key, value = encode_quality(report)
    with Producer(connection) as producer:
        producer.send(QUALITY_TOPIC, value, key).result()
