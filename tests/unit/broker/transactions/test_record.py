"""The records of the transaction log."""

import pytest

from holdfast.broker.transactions.record import (
    UnknownTransactionRecord,
    decode_key,
    decode_value,
    encode_key,
    encode_value,
)
from holdfast.broker.transactions.transaction import TopicPartition, Transaction, TransactionState

ONGOING = Transaction(
    transactional_id="täglich",
    producer_id=2**40,
    epoch=7,
    timeout_ms=60_000,
    state=TransactionState.ONGOING,
    partitions=frozenset(TopicPartition(f"topic-{i % 3}", i) for i in range(300)),
    started_ms=1_700_000_000_000,
    updated_ms=1_700_000_000_500,
)
ROTATED = Transaction(
    transactional_id="t",
    producer_id=2,
    epoch=0,
    last_epoch=32_766,
    previous_producer_id=1,
    timeout_ms=1,
    updated_ms=3,
)


@pytest.mark.parametrize("transaction", [ONGOING, ROTATED])
def test_records_survive_encoding_and_decoding(transaction: Transaction) -> None:
    assert decode_key(encode_key(transaction.transactional_id)) == transaction.transactional_id
    assert decode_value(transaction.transactional_id, encode_value(transaction)) == transaction


def test_records_of_kafka_are_read_and_written_the_same() -> None:
    key = bytes.fromhex("0000000474782d31")
    value = bytes.fromhex(
        "0001000000000000000000000000ea60010207676f6c64656e02000000000000"
        "0001a1de960b56000001a1de960b5600"
    )
    ongoing = Transaction(
        transactional_id="tx-1",
        producer_id=0,
        epoch=0,
        timeout_ms=60_000,
        state=TransactionState.ONGOING,
        partitions=frozenset({TopicPartition("golden", 0)}),
        started_ms=1_794_735_737_686,
        updated_ms=1_794_735_737_686,
    )
    assert decode_key(key) == "tx-1"
    assert encode_key("tx-1") == key
    assert decode_value("tx-1", value) == ongoing
    assert encode_value(ongoing) == value


def test_the_layout_is_kafkas() -> None:
    assert encode_key("tx") == bytes.fromhex("0000 0002 7478")
    value = encode_value(
        Transaction(
            transactional_id="tx",
            producer_id=5,
            epoch=1,
            timeout_ms=60_000,
            state=TransactionState.PREPARE_COMMIT,
            partitions=frozenset({TopicPartition("ab", 2)}),
            started_ms=9,
            updated_ms=10,
        )
    )
    assert value == bytes.fromhex(
        "0001"  # version
        "0000000000000005 0001 0000ea60 02"  # producer id, epoch, timeout, state
        "02 03 6162 02 00000002 00"  # one topic of two letters, one partition, no tags
        "000000000000000a 0000000000000009"  # last update, start
        "00"  # no tags
    )


@pytest.mark.parametrize("key", [b"", b"\0", b"\0\1\0\1t", b"\0\0\0\5t"])
def test_unknown_keys_are_named(key: bytes) -> None:
    with pytest.raises(UnknownTransactionRecord):
        decode_key(key)


def test_values_that_are_cut_off_or_of_another_version_are_named() -> None:
    value = encode_value(ROTATED)
    for size in range(len(value)):
        with pytest.raises(UnknownTransactionRecord):
            decode_value("t", value[:size])
    with pytest.raises(UnknownTransactionRecord):
        decode_value("t", b"\0\x09" + value[2:])
