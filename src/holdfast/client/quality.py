"""Keeping a report of quality where others find it: on the compacted topic `holdfast.quality`."""

from holdfast.client.connection import Connection
from holdfast.client.planned_topics import make_table
from holdfast.client.producer import Producer
from holdfast.flows.quality import QUALITY_TOPIC, QualityReport, encode_quality


def store_report(connection: Connection, report: QualityReport) -> None:
    """In place of the flow's last one. Returns once the broker has it."""
    make_table(connection, QUALITY_TOPIC)
    key, value = encode_quality(report)
    with Producer(connection) as producer:
        producer.send(QUALITY_TOPIC, value, key).result()
