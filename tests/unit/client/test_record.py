"""Records made from messages."""

from confluent_kafka import TIMESTAMP_CREATE_TIME, Message

from holdfast.client.record import Record, records_of


def message(offset: int) -> Message:
    return Message("t", 3, offset, b"k", b"v%d" % offset)


def test_a_record_has_the_parts_of_its_message() -> None:
    timestamp = (TIMESTAMP_CREATE_TIME, 1_000)
    read = Message("t", 3, 7, b"k", b"v", headers=[("h", b"1"), ("h", b"2")], timestamp=timestamp)
    record = Record.of(read)
    assert (record.topic, record.partition, record.offset) == ("t", 3, 7)
    assert (record.key, record.value, record.timestamp_ms) == (b"k", b"v", 1_000)
    assert record.header("h") == b"2"


def test_a_tombstone_has_no_value() -> None:
    assert Record.of(Message("t", 3, 7, b"k", None)).value is None


def test_records_of_all_chunks_arrive_unchanged_and_in_order() -> None:
    chunks = [[message(0), message(1)], [], [message(2)]]
    assert [(r.offset, r.value) for r in list(records_of(chunks))] == [
        (0, b"v0"),
        (1, b"v1"),
        (2, b"v2"),
    ]


def test_message_is_taken_only_when_the_iteration_reaches_it() -> None:
    """A record that is taken ahead would be committed unprocessed."""
    chunk = iter([message(0), message(1), message(2)])
    records = records_of([chunk])
    assert next(records).offset == 0
    assert [m.offset() for m in chunk] == [1, 2]
