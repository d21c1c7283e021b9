"""The promises of a broker that the gate's design leans on, by name."""

import time

import pytest
from confluent_kafka import Consumer, KafkaError, KafkaException, Producer, TopicPartition
from tests.brokers import BrokerProcess
from tests.clients import (
    DEADLINE_S,
    assigned,
    committed,
    consumer,
    create_topic,
    open_consumer,
    poll_until,
    read,
    send,
    transactional,
    values,
    wait_until,
)
from tests.wire import Wire, add_partitions, batch, fetch, init_producer, produce

HALF_AN_HOUR_MS = 1_800_000


def owner(
    kafka: BrokerProcess, group: str, topic: str, losses: list[str] | None = None
) -> Consumer:
    """A member as the gate's driver is one: static, paused, with a session of half an hour.

    Partitions that are taken from it or lost are noted in `losses`.
    """
    noted = losses if losses is not None else []
    client = consumer(
        kafka,
        group,
        {
            "group.instance.id": "gate",
            "session.timeout.ms": HALF_AN_HOUR_MS,
            "max.poll.interval.ms": 86_400_000,
            "isolation.level": "read_committed",
        },
    )

    def take(member: Consumer, partitions: list[TopicPartition]) -> None:
        member.assign(partitions)
        member.pause(partitions)

    client.subscribe(
        [topic],
        on_assign=take,
        on_revoke=lambda *_: noted.append("revoked"),
        on_lost=lambda *_: noted.append("lost"),
    )
    poll_until([client], lambda: assigned(client), "the owner's assignment")
    return client


def commit_step(
    writer: Producer, member: Consumer, topic: str, offset: int, metadata: str = ""
) -> None:
    """One transaction that moves the group's offset, as the member that it is sent for."""
    writer.begin_transaction()
    writer.send_offsets_to_transaction(
        [TopicPartition(topic, 0, offset, metadata)], member.consumer_group_metadata(), DEADLINE_S
    )
    writer.commit_transaction(DEADLINE_S)


def test_a_second_static_member_fences_the_first_ones_transactions_under_any_id(
    kafka: BrokerProcess, topic: str, group: str
) -> None:
    create_topic(kafka, topic)
    first = owner(kafka, group, topic)
    commit_step(transactional(kafka, f"{topic}.driver"), first, topic, 1)
    old_writers = [transactional(kafka, f"{topic}.{name}") for name in ("driver", "task", "other")]
    second = owner(kafka, group, topic)  # takes over at once: the session is half an hour
    old_writers.append(transactional(kafka, f"{topic}.late"))
    for writer in old_writers:
        writer.begin_transaction()
        with pytest.raises(KafkaException) as fenced:
            writer.send_offsets_to_transaction(
                [TopicPartition(topic, 0, 99)], first.consumer_group_metadata(), DEADLINE_S
            )
        error = fenced.value.args[0]
        assert error.code() == KafkaError.FENCED_INSTANCE_ID
        assert error.txn_requires_abort()
        writer.abort_transaction(DEADLINE_S)
    commit_step(transactional(kafka, f"{topic}.driver"), second, topic, 2)
    assert committed(kafka, group, topic) == 2
    first.close()
    second.close()


def test_committed_never_shows_an_offset_older_than_a_committed_transaction(
    kafka: BrokerProcess, topic: str, group: str
) -> None:
    create_topic(kafka, topic)
    member = owner(kafka, group, topic)
    writer = transactional(kafka, topic)
    for step in range(1, 61):
        commit_step(writer, member, topic, step, metadata=str(step))
        (found,) = member.committed([TopicPartition(topic, 0)], timeout=DEADLINE_S)
        assert (found.offset, found.metadata) == (step, str(step))
    member.close()


def test_init_transactions_aborts_the_open_transaction_of_a_dead_producer(
    kafka: BrokerProcess, topic: str
) -> None:
    create_topic(kafka, topic)
    with Wire(kafka) as wire:  # a producer that dies in mid-transaction
        dead = init_producer(wire, topic, timeout_ms=600_000)
        assert add_partitions(wire, topic, dead, topic) == 0
        records = batch([b"left"], producer_id=dead[0], epoch=dead[1], sequence=0,
                        transactional=True)  # fmt: skip
        assert produce(wire, topic, records, transactional_id=topic).error_code == 0
        assert fetch(wire, topic, 0, isolation=1).last_stable_offset == 0
    new = transactional(kafka, topic)
    # Nothing is left open when init_transactions returns: no wait here.
    with Wire(kafka) as wire:
        assert fetch(wire, topic, 0, isolation=1).last_stable_offset == 2
    new.begin_transaction()
    send(new, topic, [b"new"])
    new.commit_transaction(DEADLINE_S)
    wait_until(lambda: values(read(kafka, topic)) == [b"new"], "the new record alone")


def test_a_session_of_half_an_hour_survives_a_broker_restart(
    fresh_kafka: BrokerProcess, topic: str, group: str
) -> None:
    create_topic(fresh_kafka, topic)
    losses: list[str] = []
    member = owner(fresh_kafka, group, topic, losses)
    before = member.memberid()
    for step, end in enumerate((fresh_kafka.stop, fresh_kafka.kill), start=1):
        end()
        fresh_kafka.start()
        commit_step(transactional(fresh_kafka, topic), member, topic, step)
        assert committed(fresh_kafka, group, topic) == step
    # Heartbeats of the new connection are answered: still the same member, nothing was taken.
    end_time = time.monotonic() + 2
    poll_until([member], lambda: time.monotonic() > end_time, "two seconds of heartbeats")
    assert losses == []
    assert assigned(member) == {0}
    assert member.memberid() == before
    member.close()


def test_group_and_transaction_state_are_back_after_kill_9_as_acknowledged(
    fresh_kafka: BrokerProcess, topic: str, group: str
) -> None:
    kafka = fresh_kafka
    create_topic(kafka, topic, partitions=2)
    plain_group = f"{group}-plain"
    member = owner(kafka, group, topic)
    survivor = transactional(kafka, f"{topic}.survivor")
    for round_ in (1, 2):
        # A new producer each time: librdkafka's can hang in send_offsets_to_transaction once the
        # broker was away (tests/compat/FINDINGS.md).
        commit_step(
            transactional(kafka, f"{topic}.driver"),
            member,
            topic,
            round_,
            metadata=f"step {round_}",
        )
        with open_consumer(kafka, plain_group) as plain:
            plain.commit(offsets=[TopicPartition(topic, 1, round_)], asynchronous=False)
            outsider = plain.consumer_group_metadata()
        # One transaction is open and one is committed when the power goes.
        abandoned = transactional(kafka, f"{topic}.{round_}", {"transaction.timeout.ms": 600_000})
        abandoned.begin_transaction()
        send(abandoned, topic, [b"open"])
        abandoned.send_offsets_to_transaction([TopicPartition(topic, 0, 77)], outsider, DEADLINE_S)
        kafka.kill()
        kafka.start()
        (found,) = member.committed([TopicPartition(topic, 0)], timeout=DEADLINE_S)
        assert (found.offset, found.metadata) == (round_, f"step {round_}")
        assert committed(kafka, plain_group, topic, 1) == round_
        # What was open is open still: it holds readers back, and its offsets are pending.
        assert read(kafka, topic) == []
        # The dead producer is known still: a new one of its id fences it and aborts.
        transactional(kafka, f"{topic}.{round_}")
        with pytest.raises(KafkaException):
            abandoned.commit_transaction(DEADLINE_S)
        assert committed(kafka, plain_group, topic, 0) is None
        # A producer that lived through it goes on without a new beginning.
        survivor.begin_transaction()
        send(survivor, topic, [b"on"], partition=1)
        survivor.commit_transaction(DEADLINE_S)
    wait_until(lambda: values(read(kafka, topic, 1)) == [b"on"] * 2, "what was committed")
    assert values(read(kafka, topic)) == []
    assert values(read(kafka, topic, isolation="read_uncommitted")) == [b"open"] * 2
    member.close()


def test_nothing_is_visible_before_it_is_acknowledged_to_the_producer(
    kafka: BrokerProcess, topic: str
) -> None:
    """A record that a reader has seen is never lost: it is below the high watermark.

    That the embedded broker's high watermark is never ahead of the disk is shown where a disk can
    be made to fail: tests/unit/broker and tests/integration/broker/test_disk.py.
    """
    create_topic(kafka, topic)
    with Wire(kafka) as wire:
        for i in range(50):
            reply = produce(wire, topic, batch([b"%d" % i]), acks=1)
            seen = fetch(wire, topic, i, max_wait_ms=1_000)
            assert seen.high_watermark == reply.base_offset + 1
            assert seen.last_stable_offset <= seen.high_watermark
    assert len(read(kafka, topic)) == 50
