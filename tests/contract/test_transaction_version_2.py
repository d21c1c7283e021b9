"""Transactions, version 2 (KIP-890): each transaction has an epoch of its own, and requests that
write add their partitions and groups to it."""

from typing import Any

from kafka.protocol.metadata import ApiVersionsRequest
from kafka.protocol.producer import AddPartitionsToTxnRequest, EndTxnRequest
from tests.brokers import BrokerProcess
from tests.clients import create_topic, read, values, wait_until
from tests.wire import (
    CONCURRENT_TRANSACTIONS,
    Wire,
    add_partitions,
    end_transaction,
    init_producer,
    load_group,
    offset_of,
    produce_in,
    transactional_batch,
    txn_commit,
)

UNKNOWN_TOPIC_OR_PARTITION = 3
OUT_OF_ORDER_SEQUENCE_NUMBER = 45
INVALID_PRODUCER_EPOCH = 47
INVALID_TXN_STATE = 48
INVALID_PRODUCER_ID_MAPPING = 49
TRANSACTIONAL_ID_AUTHORIZATION_FAILED = 53
OPERATION_NOT_ATTEMPTED = 55
UNSTABLE_OFFSET_COMMIT = 88
PRODUCER_FENCED = 90
TRANSACTION_ABORTABLE = 120

Producer = tuple[int, int]
REFUSED = (-1, -1)


def test_broker_announces_transaction_version_2(kafka: BrokerProcess) -> None:
    with Wire(kafka) as wire:
        for version in (3, 4):
            reply = wire.ask(
                ApiVersionsRequest(
                    version=version, client_software_name="wire", client_software_version="1"
                )
            )
            levels = {each.name: each.max_version_level for each in reply.finalized_features}
            assert levels["transaction.version"] == 2
            assert reply.finalized_features_epoch >= 0
            # Clients of version 3 cannot read a feature that has a level 0.
            supported = {each.name: each.max_version for each in reply.supported_features}
            assert supported.get("transaction.version") == (2 if version == 4 else None)


def test_records_and_offsets_are_committed_without_adding_them_first(
    kafka: BrokerProcess, topic: str, group: str
) -> None:
    create_topic(kafka, topic, partitions=2)
    with Wire(kafka) as wire:
        load_group(wire, group)
        owner = init_producer(wire, topic)
        for commit in (True, False, True):
            value = b"kept" if commit else b"gone"
            for partition in (0, 1):
                assert write(wire, topic, owner, value, partition) == 0
            assert write(wire, topic, owner, value, 0, sequence=1) == 0
            assert txn_commit(wire, topic, owner, group, 7 if commit else 9, version=5) == 0
            assert offset_of(wire, group, topic, stable=True)[0] == UNSTABLE_OFFSET_COMMIT
            code, following = end(wire, topic, owner, commit)
            assert (code, following) == (0, (owner[0], owner[1] + 1))
            owner = following
            wait_until(lambda: offset_of(wire, group, topic, stable=True) == (0, 7), "offset 7")
    wait_until(lambda: values(read(kafka, topic, 0)) == [b"kept"] * 4, "the committed records")
    wait_until(lambda: values(read(kafka, topic, 1)) == [b"kept"] * 2, "the committed records")


def test_late_end_of_a_transaction_does_not_end_the_next_one(
    kafka: BrokerProcess, topic: str
) -> None:
    create_topic(kafka, topic)
    with Wire(kafka) as wire:
        first = init_producer(wire, topic)
        assert write(wire, topic, first, b"first") == 0
        assert end(wire, topic, first, commit=True)[0] == 0
        second = (first[0], first[1] + 1)
        # Repeated before the next transaction begins, it has the same reply, and no effect.
        assert end_when_done(wire, topic, first, commit=True) == (0, second)
        assert end(wire, topic, first, commit=False) == (INVALID_TXN_STATE, REFUSED)
        assert write(wire, topic, second, b"second") == 0
        for commit in (True, False):
            assert end(wire, topic, first, commit) == (PRODUCER_FENCED, REFUSED)
        late = transactional_batch(first, [b"late"], sequence=1)
        assert produce_in(wire, topic, topic, late, version=12) == INVALID_PRODUCER_EPOCH
        assert values(read(kafka, topic)) == [b"first"]
        assert end(wire, topic, second, commit=False)[0] == 0
    wait_until(
        lambda: values(read(kafka, topic, isolation="read_uncommitted")) == [b"first", b"second"],
        "both records",
    )
    assert values(read(kafka, topic)) == [b"first"]


def test_late_end_commits_the_next_transaction_of_version_1(
    kafka: BrokerProcess, topic: str
) -> None:
    """The weakness that version 2 removes: both brokers have it for clients of version 1."""
    create_topic(kafka, topic)
    with Wire(kafka) as wire:
        owner = init_producer(wire, topic)
        for sequence in (0, 1):
            assert add_partitions(wire, topic, owner, topic) == 0
            records = transactional_batch(owner, [b"v"], sequence)
            assert produce_in(wire, topic, topic, records) == 0
            # The second one is the first one's, delivered late: nothing tells them apart.
            assert end_transaction(wire, topic, owner, commit=True) == 0
    wait_until(lambda: values(read(kafka, topic)) == [b"v", b"v"], "both transactions")


def test_transaction_that_never_began_is_aborted_and_not_committed(
    kafka: BrokerProcess, topic: str
) -> None:
    with Wire(kafka) as wire:
        owner = init_producer(wire, topic)
        assert end(wire, topic, owner, commit=True) == (INVALID_TXN_STATE, REFUSED)
        following = (owner[0], owner[1] + 1)
        assert end(wire, topic, owner, commit=False) == (0, following)
        assert end_when_done(wire, topic, owner, commit=False) == (0, following)


def test_requests_that_do_not_belong_to_the_transaction_are_refused(
    kafka: BrokerProcess, topic: str, group: str
) -> None:
    create_topic(kafka, topic, partitions=3)
    with Wire(kafka) as wire:
        load_group(wire, group)
        owner = init_producer(wire, topic)
        records = transactional_batch(owner, [b"v"])
        # Versions that do not add partitions name the error as well as they can.
        for version, error in ((10, INVALID_TXN_STATE), (11, TRANSACTION_ABORTABLE)):
            assert produce_in(wire, topic, topic, records, version=version) == error
        for version, error in ((3, INVALID_TXN_STATE), (4, TRANSACTION_ABORTABLE)):
            assert txn_commit(wire, topic, owner, group, 1, version=version) == error
        assert write(wire, topic, owner, b"v") == 0
        other = produce_in(wire, f"{topic}-other", topic, records, 1, version=12)
        assert other == INVALID_PRODUCER_ID_MAPPING
        unnamed = produce_in(wire, None, topic, records, 1, version=12)
        assert unnamed == TRANSACTIONAL_ID_AUTHORIZATION_FAILED
        stranger = (owner[0] + 1_000_000, 0)
        future = (owner[0], owner[1] + 1)
        assert write(wire, topic, future, b"v", 1) == INVALID_PRODUCER_EPOCH
        assert txn_commit(wire, topic, future, group, 1, version=5) == INVALID_PRODUCER_EPOCH
        unknown = txn_commit(wire, topic, stranger, group, 1, version=5)
        assert unknown == INVALID_PRODUCER_ID_MAPPING
        # A batch that overtook the first one, in a partition that knows nothing of the producer.
        overtaking = transactional_batch(owner, [b"v"], sequence=5)
        refused = produce_in(wire, topic, topic, overtaking, 2, version=12)
        assert refused == OUT_OF_ORDER_SEQUENCE_NUMBER
        assert end(wire, topic, owner, commit=False)[0] == 0
    assert read(kafka, topic) == []


def test_partitions_of_several_transactions_are_added_and_verified(
    kafka: BrokerProcess, topic: str
) -> None:
    create_topic(kafka, topic, partitions=3)
    ids = [f"{topic}-a", f"{topic}-b"]
    with Wire(kafka) as wire:
        owners = {name: init_producer(wire, name) for name in ids}
        for version in (4, 5):
            assert add_all(wire, version, owners, topic, [0]) == {name: {0: 0} for name in ids}
            verified = add_all(wire, version, owners, topic, [0, 1], verify=True)
            assert verified == {name: {0: 0, 1: TRANSACTION_ABORTABLE} for name in ids}
        missing = add_all(wire, 5, owners, topic, [1, 77])
        assert missing[ids[0]] == {1: OPERATION_NOT_ATTEMPTED, 77: UNKNOWN_TOPIC_OR_PARTITION}
        fenced = {name: (owner[0], owner[1] + 1) for name, owner in owners.items()}
        assert add_all(wire, 5, fenced, topic, [1])[ids[0]] == {1: PRODUCER_FENCED}
        nobody = {f"{topic}-nobody": owners[ids[0]]}
        assert list(add_all(wire, 5, nobody, topic, [1]).values()) == [
            {1: INVALID_PRODUCER_ID_MAPPING}
        ]
        for name, owner in owners.items():
            assert end(wire, name, owner, commit=False)[0] == 0


def write(
    wire: Wire, topic: str, owner: Producer, value: bytes, partition: int = 0, sequence: int = 0
) -> int:
    """Produce under the transactional id that has the topic's name."""
    records = transactional_batch(owner, [value], sequence)
    return produce_in(wire, topic, topic, records, partition, version=12)


def end(wire: Wire, transactional_id: str, owner: Producer, commit: bool) -> tuple[int, Producer]:
    """Returns the error code, and the producer of the next transaction."""
    reply = wire.ask(
        EndTxnRequest(
            version=5, transactional_id=transactional_id, producer_id=owner[0],
            producer_epoch=owner[1], committed=commit,
        )
    )  # fmt: skip
    return int(reply.error_code), (int(reply.producer_id), int(reply.producer_epoch))


def end_when_done(
    wire: Wire, transactional_id: str, owner: Producer, commit: bool
) -> tuple[int, Producer]:
    """Ends a transaction, once the markers of the previous one are written."""
    replies: list[tuple[int, Producer]] = []

    def done() -> bool:
        replies.append(end(wire, transactional_id, owner, commit))
        return replies[-1][0] != CONCURRENT_TRANSACTIONS

    wait_until(done, "the end of the transaction")
    return replies[-1]


def add_all(
    wire: Wire,
    version: int,
    owners: dict[str, Producer],
    topic: str,
    partitions: list[int],
    verify: bool = False,
) -> dict[str, dict[int, int]]:
    """Returns the error code by transactional id and partition."""
    transaction = AddPartitionsToTxnRequest.AddPartitionsToTxnTransaction
    named: Any = transaction.AddPartitionsToTxnTopic
    reply = wire.ask(
        AddPartitionsToTxnRequest(
            version=version,
            transactions=[
                transaction(
                    version=version, transactional_id=name, producer_id=owner[0],
                    producer_epoch=owner[1], verify_only=verify,
                    topics=[named(version=version, name=topic, partitions=partitions)],
                )
                for name, owner in owners.items()
            ],
        )
    )  # fmt: skip
    assert reply.error_code == 0
    return {
        result.transactional_id: {
            int(each.partition_index): int(each.partition_error_code)
            for each in result.topic_results[0].results_by_partition
        }
        for result in reply.results_by_transaction
    }
