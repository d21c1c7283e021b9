"""A client that was connected before a broker's restart goes on after it."""

import pytest
from tests.brokers import BrokerProcess

import holdfast
from holdfast.errors import NotFoundError, TransientError


def test_offsets_are_looked_up_through_a_restart_and_an_absence(
    fresh_kafka: BrokerProcess, topic: str
) -> None:
    with holdfast.connect(fresh_kafka.bootstrap, request_timeout=5) as client:
        client.topics.create(topic, partitions=2)
        client.send(topic, "x", partition=1).result()
        assert [r.records for r in client.topics.ranges(topic)] == [0, 1]
        fresh_kafka.stop()
        with pytest.raises(TransientError):
            client.topics.ranges(topic)
        fresh_kafka.start()
        assert [r.records for r in client.topics.ranges(topic)] == [0, 1]
        with pytest.raises(NotFoundError):
            client.topics.ranges("never-made")


def test_offsets_are_looked_up_right_after_a_restart(
    fresh_kafka: BrokerProcess, topic: str
) -> None:
    with holdfast.connect(fresh_kafka.bootstrap, request_timeout=5) as client:
        client.topics.create(topic, partitions=2)
        client.send(topic, "x", partition=1).result()
        assert [r.records for r in client.topics.ranges(topic)] == [0, 1]
        fresh_kafka.kill()
        fresh_kafka.start()
        assert [r.records for r in client.topics.ranges(topic)] == [0, 1]


def test_first_request_about_a_group_waits_for_its_coordinator(
    fresh_kafka: BrokerProcess,
) -> None:
    """Apache Kafka makes its topic of offsets only when somebody asks for a group."""
    with holdfast.connect(fresh_kafka.bootstrap) as client, pytest.raises(NotFoundError):
        client.groups.describe("nobody")
