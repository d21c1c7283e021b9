"""Members leave their group without librdkafka's hang in close, over both brokers."""

import subprocess
import sys

import pytest
from confluent_kafka import Consumer, TopicPartition
from tests.brokers import BrokerProcess
from tests.clients import DEADLINE_S, connection, wait_until

import holdfast
from holdfast.client import consumer_engine
from holdfast.client.leaving import close_member
from holdfast.errors import NotFoundError
from holdfast.processing import KafkaConsumer, kafka_consumer


class WatchedConsumer(Consumer):
    """Notes what is assigned at the moment in which librdkafka's close begins."""

    assigned_at_close: list[TopicPartition] | None = None

    def close(self) -> None:
        type(self).assigned_at_close = self.assignment()
        super().close()


@pytest.fixture
def watched() -> type[WatchedConsumer]:
    return type("Watched", (WatchedConsumer,), {})


def members(client: holdfast.Client, group: str) -> int:
    """A broker may drop a group that has neither members nor offsets at any time."""
    try:
        return len(client.groups.describe(group).members)
    except NotFoundError:
        return 0


def stable(client: holdfast.Client, group: str) -> bool:
    return (group, "stable") in {(each.name, each.state) for each in client.groups.list()}


def test_a_waiting_assignment_is_served_and_given_up_before_close(
    client: holdfast.Client, kafka: BrokerProcess, topic: str, group: str
) -> None:
    """The assignment that makes librdkafka hang: it has arrived, and nobody has polled since."""
    client.topics.create(topic, partitions=3)
    config = {**connection(kafka), "group.id": group}
    order: list[str] = []

    class Noting(Consumer):
        def close(self) -> None:
            order.append("close")
            super().close()

    consumer = Noting(config)
    consumer.subscribe(
        [topic],
        on_assign=lambda *_: order.append("assigned"),
        on_revoke=lambda *_: order.append("revoked"),
    )
    wait_until(lambda: stable(client, group), "a member that was given partitions")
    close_member(consumer, config)
    assert order[-1] == "close", order  # and nothing is assigned or revoked inside of it
    assert members(client, group) == 0


def test_consumer_has_given_everything_up_when_it_closes(
    client: holdfast.Client,
    topic: str,
    group: str,
    watched: type[WatchedConsumer],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    client.topics.create(topic, partitions=3)
    monkeypatch.setattr(consumer_engine, "KafkaConsumer", watched)
    client.send(topic, "one").result()
    with client.consumer(topic, group=group) as consumer:
        assert [r.text() for r in consumer.records(limit=1)] == ["one"]
    assert watched.assigned_at_close == []
    described = client.groups.describe(group)
    assert len(described.members) == 0
    assert [lag.committed for lag in described.lag] == [1]


def test_processing_consumer_has_given_everything_up_when_it_closes(
    client: holdfast.Client,
    kafka: BrokerProcess,
    topic: str,
    group: str,
    watched: type[WatchedConsumer],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from arroyo.types import Topic
    from tests.contract.processing.running import configuration, take

    client.topics.create(topic)
    client.send(topic, "one").result()
    monkeypatch.setattr(kafka_consumer, "LibrdkafkaConsumer", watched)
    consumer = KafkaConsumer(configuration(kafka, group))
    consumer.subscribe([Topic(topic)])
    take(consumer, 1)
    consumer.close()
    assert watched.assigned_at_close == []
    assert members(client, group) == 0


def test_static_member_keeps_its_membership_when_it_closes(
    client: holdfast.Client, topic: str, group: str
) -> None:
    client.topics.create(topic)
    client.send(topic, "one").result()
    with client.consumer(topic, group=group, kafka={"group.instance.id": "a"}) as consumer:
        list(consumer.records(limit=1))
    assert members(client, group) == 1


COME_AND_GO = """
import random, sys, threading
import holdfast
from arroyo.types import Topic
from holdfast.processing import KafkaConsumer
from arroyo.backends.kafka import build_kafka_consumer_configuration

bootstrap, topic, group, seed = sys.argv[1:]
client = holdfast.connect(bootstrap)

def member(number):
    chance = random.Random(f"{seed}-{number}")
    for _ in range(4):
        if number % 2:
            consumer = client.consumer(topic, group=group)
            consumer.engine._serve(chance.random() * 0.3)
        else:
            consumer = KafkaConsumer(build_kafka_consumer_configuration(
                {"partition.assignment.strategy": "cooperative-sticky"},
                group_id=group, bootstrap_servers=[bootstrap], auto_offset_reset="earliest"))
            consumer.subscribe([Topic(topic)])
            consumer.poll(chance.random() * 0.3)
        consumer.close()

members = [threading.Thread(target=member, args=(number,)) for number in range(6)]
for each in members: each.start()
for each in members: each.join()
print("all closed")
"""


def test_members_that_come_and_go_all_close(
    client: holdfast.Client, kafka: BrokerProcess, topic: str, group: str
) -> None:
    """In a process of its own: the hang keeps the interpreter's lock, so no test could end it."""
    client.topics.create(topic, partitions=8)
    ended = subprocess.run(
        [sys.executable, "-c", COME_AND_GO, kafka.bootstrap, topic, group, "1"],
        capture_output=True, text=True, timeout=DEADLINE_S, check=False,
    )  # fmt: skip
    assert ended.stdout.strip() == "all closed", ended.stderr
