"""State that survives a restart of the broker, after a stop or a kill."""

from collections.abc import Callable

import pytest
from confluent_kafka import TopicPartition
from confluent_kafka.admin import NewTopic
from tests.brokers import BrokerProcess
from tests.clients import (
    DEADLINE_S,
    admin,
    assigned,
    create_topic,
    done,
    next_record,
    offsets,
    open_consumer,
    poll_until,
    producer,
    read,
    send,
    values,
)
from tests.wire import Wire, batch, init_producer, produce

FIVE = [b"a", b"b", b"c", b"d", b"e"]

ENDINGS: dict[str, Callable[[BrokerProcess], object]] = {
    "restart": lambda broker: broker.stop(),
    "kill-9": lambda broker: broker.kill(),
}


@pytest.mark.parametrize("ending", list(ENDINGS))
def test_records_groups_producers_and_topics_survive_a_restart(
    fresh_kafka: BrokerProcess, topic: str, group: str, ending: str
) -> None:
    kafka = fresh_kafka
    create_topic(kafka, topic, partitions=3, config={"max.message.bytes": "2000000"})
    deleted = create_topic(kafka, f"{topic}-deleted")
    operator = admin(kafka)
    done(operator.delete_topics([deleted]))
    client = producer(kafka, {"enable.idempotence": True, "message.max.bytes": 2_000_000})
    assert send(client, topic, FIVE) == [0, 1, 2, 3, 4]
    assert send(client, topic, [bytes(1_500_000)], partition=1) == [0]
    with Wire(kafka) as wire:
        producer_id, epoch = init_producer(wire)
        retried = batch([b"once"], producer_id=producer_id, epoch=epoch, sequence=0)
        assert produce(wire, topic, retried, partition=2).error_code == 0
    with open_consumer(kafka, group) as member:
        member.commit(offsets=[TopicPartition(topic, 0, 3, metadata="m")], asynchronous=False)

    ENDINGS[ending](kafka)
    kafka.start()

    assert [(m.offset(), m.value()) for m in read(kafka, topic)] == list(enumerate(FIVE))
    assert offsets(read(kafka, topic, start=2)) == [2, 3, 4]
    assert [len(m.value() or b"") for m in read(kafka, topic, 1)] == [1_500_000]
    # The group resumes where it was.
    with open_consumer(kafka, group) as member:
        member.subscribe([topic])
        poll_until([member], lambda: assigned(member) == {0, 1, 2}, "the assignment")
        (found,) = member.committed([TopicPartition(topic, 0)], timeout=DEADLINE_S)
        assert (found.offset, found.metadata) == (3, "m")
    # A retry that crosses the ending is known again.
    with Wire(kafka) as wire:
        assert produce(wire, topic, retried, partition=2).base_offset == 0
        following = batch([b"next"], producer_id=producer_id, epoch=epoch, sequence=1)
        assert produce(wire, topic, following, partition=2).base_offset == 1
    assert values(read(kafka, topic, 2)) == [b"once", b"next"]
    # The producer that lived through it goes on, and offsets go on.
    assert send(client, topic, FIVE) == [5, 6, 7, 8, 9]
    operator = admin(kafka)
    assert deleted not in operator.list_topics(timeout=DEADLINE_S).topics
    with pytest.raises(Exception, match="already exists"):
        done(operator.create_topics([NewTopic(topic, 1, 1)]))


def test_a_consumer_reads_on_through_a_restart(
    fresh_kafka: BrokerProcess, topic: str, group: str
) -> None:
    create_topic(fresh_kafka, topic)
    client = producer(fresh_kafka)
    with open_consumer(fresh_kafka, group) as reader:
        reader.subscribe([topic])
        seen = []
        for start in (0, 5, 10):
            assert send(client, topic, FIVE) == list(range(start, start + 5))
            seen += [next_record(reader).offset() for _ in FIVE]
            if start < 10:
                fresh_kafka.restart()
        assert seen == list(range(15))
