"""Transactions: all or nothing, one owner, and readers that see only what is decided."""

import pytest
from confluent_kafka import KafkaError, KafkaException, TopicPartition
from kafka.protocol.admin import DescribeProducersRequest, DescribeTransactionsRequest
from kafka.protocol.producer import AddOffsetsToTxnRequest, InitProducerIdRequest
from tests.brokers import BrokerProcess
from tests.clients import (
    DEADLINE_S,
    committed,
    create_topic,
    offsets,
    open_consumer,
    producer,
    read,
    send,
    transactional,
    values,
    wait_until,
)
from tests.wire import (
    Wire,
    add_partitions,
    batches,
    end_transaction,
    fetch,
    init_producer,
    load_group,
    offset_of,
    produce_in,
    transactional_batch,
    txn_commit,
)

INVALID_PRODUCER_EPOCH = 47
INVALID_TXN_STATE = 48
INVALID_PRODUCER_ID_MAPPING = 49
INVALID_TRANSACTION_TIMEOUT = 50
UNSTABLE_OFFSET_COMMIT = 88
PRODUCER_FENCED = 90


def test_a_committed_transaction_is_seen_by_every_reader(kafka: BrokerProcess, topic: str) -> None:
    create_topic(kafka, topic)
    client = transactional(kafka, topic)
    client.begin_transaction()
    assert send(client, topic, [b"a", b"b"]) == [0, 1]
    client.commit_transaction(DEADLINE_S)
    wait_until(lambda: values(read(kafka, topic)) == [b"a", b"b"], "the committed records")
    assert values(read(kafka, topic, isolation="read_uncommitted")) == [b"a", b"b"]


def test_an_aborted_transaction_is_never_seen_under_read_committed(
    kafka: BrokerProcess, topic: str
) -> None:
    create_topic(kafka, topic)
    client = transactional(kafka, topic)
    for commit in (True, False, True, False):
        client.begin_transaction()
        send(client, topic, [b"kept" if commit else b"gone"])
        if commit:
            client.commit_transaction(DEADLINE_S)
        else:
            client.abort_transaction(DEADLINE_S)
    send(producer(kafka), topic, [b"plain"])
    wait_until(
        lambda: values(read(kafka, topic)) == [b"kept", b"kept", b"plain"], "what was committed"
    )
    assert values(read(kafka, topic, isolation="read_uncommitted")) == [
        b"kept", b"gone", b"kept", b"gone", b"plain",
    ]  # fmt: skip
    # Every transaction's marker takes an offset of its own.
    assert offsets(read(kafka, topic)) == [0, 4, 8]


def test_an_open_transaction_holds_back_all_that_follows(
    kafka: BrokerProcess, topic: str, group: str
) -> None:
    create_topic(kafka, topic)
    send(producer(kafka), topic, [b"before"])
    client = transactional(kafka, topic)
    client.begin_transaction()
    send(client, topic, [b"inside"])
    send(producer(kafka), topic, [b"after"])
    assert values(read(kafka, topic)) == [b"before"]
    assert values(read(kafka, topic, isolation="read_uncommitted")) == [
        b"before", b"inside", b"after",
    ]  # fmt: skip
    assert end_of(kafka, topic, group, "read_committed") == 1
    assert end_of(kafka, topic, group, "read_uncommitted") == 3
    client.commit_transaction(DEADLINE_S)
    wait_until(
        lambda: values(read(kafka, topic)) == [b"before", b"inside", b"after"],
        "all three once the transaction is committed",
    )


def test_interleaved_transactions_are_decided_each_on_its_own(
    kafka: BrokerProcess, topic: str
) -> None:
    create_topic(kafka, topic)
    first, second = transactional(kafka, f"{topic}-1"), transactional(kafka, f"{topic}-2")
    first.begin_transaction()
    second.begin_transaction()
    for writer, value in ((first, b"1a"), (second, b"2a"), (first, b"1b"), (second, b"2b")):
        send(writer, topic, [value])
    second.commit_transaction(DEADLINE_S)
    # The older one still holds everything back.
    assert read(kafka, topic) == []
    first.abort_transaction(DEADLINE_S)
    wait_until(lambda: values(read(kafka, topic)) == [b"2a", b"2b"], "the committed one's records")


def test_a_transaction_is_atomic_across_partitions_and_topics(
    kafka: BrokerProcess, topic: str
) -> None:
    other = f"{topic}-other"
    create_topic(kafka, topic, partitions=3)
    create_topic(kafka, other)
    places = [(topic, 0), (topic, 1), (topic, 2), (other, 0)]
    client = transactional(kafka, topic)
    for commit in (False, True):
        client.begin_transaction()
        for name, partition in places:
            send(client, name, [b"committed" if commit else b"aborted"], partition)
        for name, partition in places:
            assert read(kafka, name, partition) == []
        if commit:
            client.commit_transaction(DEADLINE_S)
        else:
            client.abort_transaction(DEADLINE_S)
    for name, partition in places:

        def committed(name: str = name, partition: int = partition) -> bool:
            return values(read(kafka, name, partition)) == [b"committed"]

        wait_until(
            committed,
            f"the committed record in {name}/{partition}",
        )


def test_a_new_producer_with_the_same_id_fences_the_old_one(
    kafka: BrokerProcess, topic: str
) -> None:
    create_topic(kafka, topic)
    old = transactional(kafka, topic)
    old.begin_transaction()
    send(old, topic, [b"old"])
    new = transactional(kafka, topic)
    with pytest.raises(KafkaException) as fenced:
        old.commit_transaction(DEADLINE_S)
    assert fenced.value.args[0].code() == KafkaError._FENCED
    new.begin_transaction()
    send(new, topic, [b"new"])
    new.commit_transaction(DEADLINE_S)
    wait_until(lambda: values(read(kafka, topic)) == [b"new"], "the new one's record alone")


def test_a_transaction_past_its_timeout_is_aborted_and_its_producer_refused(
    kafka: BrokerProcess, topic: str
) -> None:
    create_topic(kafka, topic)
    client = transactional(kafka, topic, {"transaction.timeout.ms": 1_000})
    client.begin_transaction()
    send(client, topic, [b"late"])
    send(producer(kafka), topic, [b"plain"])
    wait_until(lambda: values(read(kafka, topic)) == [b"plain"], "the abort by time-out")
    with pytest.raises(KafkaException):
        client.commit_transaction(DEADLINE_S)
    assert values(read(kafka, topic)) == [b"plain"]


def test_offsets_in_a_transaction_move_only_when_it_commits(
    kafka: BrokerProcess, topic: str, group: str
) -> None:
    create_topic(kafka, topic)
    send(producer(kafka), topic, [b"v"] * 10)
    client = transactional(kafka, topic)
    with open_consumer(kafka, group) as member:
        for offset, commit in ((3, True), (7, False), (5, True)):
            client.begin_transaction()
            client.send_offsets_to_transaction(
                [TopicPartition(topic, 0, offset)], member.consumer_group_metadata(), DEADLINE_S
            )
            if commit:
                client.commit_transaction(DEADLINE_S)
            else:
                client.abort_transaction(DEADLINE_S)
            expected = offset if commit else 3
            assert committed(kafka, group, topic) == expected


def test_pending_offsets_are_not_shown_and_a_stable_read_waits_for_them(
    kafka: BrokerProcess, topic: str, group: str
) -> None:
    create_topic(kafka, topic)
    with Wire(kafka) as wire:
        load_group(wire, group)
        owner = init_producer(wire, topic)
        assert offset_of(wire, group, topic, stable=False) == (0, -1)
        add_offsets(wire, topic, owner, group)
        assert txn_commit(wire, topic, owner, group, 5) == 0
        assert offset_of(wire, group, topic, stable=False) == (0, -1)
        assert offset_of(wire, group, topic, stable=True) == (UNSTABLE_OFFSET_COMMIT, -1)
        assert end_transaction(wire, topic, owner, commit=True) == 0
        wait_until(lambda: offset_of(wire, group, topic, stable=True) == (0, 5), "offset 5")
        assert offset_of(wire, group, topic, stable=False) == (0, 5)


def test_a_transactional_produce_to_a_partition_that_was_not_added_is_refused(
    kafka: BrokerProcess, topic: str
) -> None:
    create_topic(kafka, topic, partitions=2)
    with Wire(kafka) as wire:
        owner = init_producer(wire, topic)
        records = transactional_batch(owner, [b"v"])
        # Nothing added at all:
        assert produce_in(wire, topic, topic, records) == INVALID_TXN_STATE
        # Another partition added:
        assert add_partitions(wire, topic, owner, topic, [1]) == 0
        assert produce_in(wire, topic, topic, records) == INVALID_TXN_STATE
        assert produce_in(wire, topic, topic, records, partition=1) == 0
        # The transaction over and its marker written, the partition must be added again:
        assert end_transaction(wire, topic, owner, commit=True) == 0
        wait_until(lambda: values(read(kafka, topic, 1)) == [b"v"], "the commit marker")
        again = transactional_batch(owner, [b"w"], sequence=1)
        assert produce_in(wire, topic, topic, again, partition=1) == INVALID_TXN_STATE
    assert read(kafka, topic, isolation="read_uncommitted") == []


def test_old_epochs_and_foreign_ids_are_refused(kafka: BrokerProcess, topic: str) -> None:
    create_topic(kafka, topic)
    with Wire(kafka) as wire:
        old = init_producer(wire, topic)
        assert add_partitions(wire, topic, old, topic) == 0
        assert produce_in(wire, topic, topic, transactional_batch(old, [b"v"])) == 0
        new = init_producer(wire, topic)
        assert new[0] == old[0]
        assert new[1] > old[1]
        assert add_partitions(wire, topic, old, topic) == PRODUCER_FENCED
        assert end_transaction(wire, topic, old, commit=True) == PRODUCER_FENCED
        late = transactional_batch(old, [b"late"], sequence=1)
        assert produce_in(wire, topic, topic, late) == INVALID_PRODUCER_EPOCH
        stranger = (new[0] + 1_000_000, 0)
        assert add_partitions(wire, topic, stranger, topic) == INVALID_PRODUCER_ID_MAPPING
        assert end_transaction(wire, topic, stranger, commit=True) == INVALID_PRODUCER_ID_MAPPING
    assert read(kafka, topic) == []


def test_ending_a_transaction_twice_the_same_way_is_answered_as_once(
    kafka: BrokerProcess, topic: str
) -> None:
    create_topic(kafka, topic)
    with Wire(kafka) as wire:
        owner = init_producer(wire, topic)
        assert end_transaction(wire, topic, owner, commit=True) == INVALID_TXN_STATE
        add_partitions(wire, topic, owner, topic)
        assert produce_in(wire, topic, topic, transactional_batch(owner, [b"v"])) == 0
        assert end_transaction(wire, topic, owner, commit=True) == 0

        def repeated() -> int:
            code = end_transaction(wire, topic, owner, commit=True)
            return -1 if code == 0 else code

        wait_until(lambda: repeated() == -1, "the same answer to a repeated commit")
        assert end_transaction(wire, topic, owner, commit=False) == INVALID_TXN_STATE


def test_a_transaction_timeout_above_the_limit_is_refused(kafka: BrokerProcess, topic: str) -> None:
    with Wire(kafka) as wire:
        init_producer(wire, topic)
        reply = wire.ask(
            InitProducerIdRequest(
                version=4, transactional_id=topic, transaction_timeout_ms=900_001,
                producer_id=-1, producer_epoch=-1,
            )
        )  # fmt: skip
        assert reply.error_code == INVALID_TRANSACTION_TIMEOUT


def test_a_fetch_under_read_committed_names_the_aborted_transactions(
    kafka: BrokerProcess, topic: str
) -> None:
    create_topic(kafka, topic)
    with Wire(kafka) as wire:
        owner = init_producer(wire, topic)
        add_partitions(wire, topic, owner, topic)
        assert produce_in(wire, topic, topic, transactional_batch(owner, [b"x", b"y"])) == 0
        open_one = fetch(wire, topic, 0, isolation=1)
        assert open_one.last_stable_offset == 0
        assert open_one.high_watermark == 2
        assert batches(open_one.records) == []
        assert end_transaction(wire, topic, owner, commit=False) == 0
        wait_until(
            lambda: fetch(wire, topic, 0, isolation=1).last_stable_offset == 3, "the abort marker"
        )
        found = fetch(wire, topic, 0, isolation=1)
        aborted = found.aborted_transactions
        assert [(a.producer_id, a.first_offset) for a in aborted] == [(owner[0], 0)]
        data, marker = batches(found.records)
        assert data.is_transactional
        assert not data.is_control_batch
        assert marker.is_control_batch
        assert marker.base_offset == 2
        assert not fetch(wire, topic, 0, isolation=0).aborted_transactions


def test_transactions_and_their_producers_can_be_described(
    kafka: BrokerProcess, topic: str
) -> None:
    create_topic(kafka, topic)
    with Wire(kafka) as wire:
        owner = init_producer(wire, topic, timeout_ms=33_000)
        add_partitions(wire, topic, owner, topic)
        assert produce_in(wire, topic, topic, transactional_batch(owner, [b"v"])) == 0
        (state,) = wire.ask(
            DescribeTransactionsRequest(version=0, transactional_ids=[topic])
        ).transaction_states
        assert state.error_code == 0
        assert state.transaction_state == "Ongoing"
        assert (state.producer_id, state.producer_epoch) == owner
        assert state.transaction_timeout_ms == 33_000
        assert [(t.topic, list(t.partitions)) for t in state.topics] == [(topic, [0])]
        asked = DescribeProducersRequest.TopicRequest
        (active,) = (
            wire.ask(
                DescribeProducersRequest(
                    version=0, topics=[asked(version=0, name=topic, partition_indexes=[0])]
                )
            )
            .topics[0]
            .partitions[0]
            .active_producers
        )
        assert (active.producer_id, active.producer_epoch) == owner
        assert active.last_sequence == 0
        assert active.current_txn_start_offset == 0
        assert end_transaction(wire, topic, owner, commit=True) == 0


def end_of(kafka: BrokerProcess, topic: str, group: str, isolation: str) -> int:
    with open_consumer(kafka, group, {"isolation.level": isolation}) as client:
        _, end = client.get_watermark_offsets(TopicPartition(topic, 0), timeout=DEADLINE_S)
    return end


def add_offsets(wire: Wire, transactional_id: str, owner: tuple[int, int], group: str) -> None:
    reply = wire.ask(
        AddOffsetsToTxnRequest(
            version=3, transactional_id=transactional_id, producer_id=owner[0],
            producer_epoch=owner[1], group_id=group,
        )
    )  # fmt: skip
    assert reply.error_code == 0
