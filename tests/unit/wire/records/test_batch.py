"""Record batches: bytes that other implementations agree on, and bytes that are none."""

import random
import struct
from collections.abc import Callable
from contextlib import suppress

import pytest
from kafka.record.default_records import DefaultRecordBatch, DefaultRecordBatchBuilder

from holdfast.wire.records.batch import (
    HEADER_SIZE,
    MalformedBatch,
    Marker,
    build_batch,
    control_batch,
    crc_of,
    header_of,
    iterate_batches,
    marker_of,
    records_of,
)
from holdfast.wire.records.compression import Compression, UndecodableRecords, decompress
from holdfast.wire.records.record import Record, outlines, read_varint, write_varint

NOW = 1_700_000_000_000


def some_records(count: int = 5) -> list[Record]:
    return [
        Record(n, NOW + 3 * n, None if n % 3 == 0 else b"k%d" % n, None if n % 4 == 3 else b"v" * n,
               ((b"h", b"1"), (b"empty", b""), (b"null", None)) if n % 2 else ())
        for n in range(count)
    ]  # fmt: skip


@pytest.mark.parametrize("codec", list(Compression))
def test_encoded_records_are_decoded_unchanged(codec: Compression) -> None:
    records = some_records(40)
    batch = build_batch(records, timestamp=NOW, compression=codec)
    assert list(records_of(batch)) == records
    header = header_of(batch)
    assert header.crc == crc_of(batch)
    assert (header.size, header.record_count, header.last_offset) == (len(batch), 40, 39)
    assert (header.base_timestamp, header.max_timestamp) == (NOW, NOW + 117)
    assert header.compression == codec


def test_kafka_python_reads_our_batches() -> None:
    records = some_records()
    batch = build_batch(
        records, timestamp=NOW, base_offset=100, producer_id=9, producer_epoch=2, base_sequence=7
    )
    theirs = DefaultRecordBatch(bytes(batch))
    assert theirs.validate_crc()
    assert (theirs.base_offset, theirs.producer_id, theirs.base_sequence) == (100, 9, 7)
    assert [(r.offset, r.timestamp, r.key, r.value) for r in theirs] == [
        (100 + r.offset, r.timestamp, r.key, r.value) for r in records
    ]


def test_kafka_python_batches_are_read() -> None:
    builder = DefaultRecordBatchBuilder(
        magic=2, compression_type=0, is_transactional=1, producer_id=5, producer_epoch=1,
        base_sequence=3, batch_size=10_000,
    )  # fmt: skip
    for n in range(4):
        builder.append(n, timestamp=NOW + n, key=b"k", value=b"v%d" % n, headers=[("h", b"x")])
    batch = bytes(builder.build())
    header = header_of(batch)
    assert header.crc == crc_of(batch)
    assert header.is_transactional
    assert header.last_sequence == 6
    assert [r.value for r in records_of(batch)] == [b"v0", b"v1", b"v2", b"v3"]


def test_control_batch_encodes_commit_or_abort() -> None:
    for commit in (True, False):
        batch = control_batch(7, 3, commit, 11, NOW)
        header = header_of(batch)
        assert header.is_control
        assert header.is_transactional
        assert (header.producer_id, header.producer_epoch, header.base_sequence) == (7, 3, -1)
        assert marker_of(batch) == Marker(commit, 11)
        assert bool(marker_of(batch)) is commit
    (record,) = records_of(control_batch(7, 3, True, 11, NOW))
    assert (record.key, record.value) == (b"\0\0\0\1", b"\0\0\0\0\0\x0b")


def test_all_batches_of_a_buffer_are_iterated() -> None:
    buffer = build_batch(some_records(2), timestamp=NOW) + control_batch(1, 0, True, 0, NOW)
    found = list(iterate_batches(buffer))
    assert [header.record_count for header, _ in found] == [2, 1]
    assert b"".join(batch for _, batch in found) == buffer


@pytest.mark.parametrize("cut", [1, 40, HEADER_SIZE - 1, HEADER_SIZE, -1])
def test_part_of_a_batch_is_malformed(cut: int) -> None:
    with pytest.raises(MalformedBatch):
        list(iterate_batches(build_batch(some_records(), timestamp=NOW)[:cut]))


def test_sequences_wrap_within_a_batch() -> None:
    batch = build_batch(some_records(3), timestamp=NOW, producer_id=1, base_sequence=2**31 - 2)
    assert header_of(batch).last_sequence == 0


@pytest.mark.parametrize("codec", list(Compression))
def test_random_damage_raises_only_undecodable_records(codec: Compression) -> None:
    randomness = random.Random(codec)
    whole = build_batch(some_records(30), timestamp=NOW, compression=codec)
    for _ in range(300):
        batch = bytearray(whole)
        for _ in range(randomness.randint(1, 4)):
            batch[randomness.randrange(HEADER_SIZE, len(batch))] = randomness.randrange(256)
        with suppress(UndecodableRecords):
            list(records_of(batch))


def test_wrong_record_count_is_undecodable() -> None:
    batch = build_batch(some_records(5), timestamp=NOW)
    for count in (4, 6, 1 << 30):
        struct.pack_into(">i", batch, 57, count)
        with pytest.raises(UndecodableRecords):
            list(records_of(batch))
        with pytest.raises(UndecodableRecords):
            list(outlines(bytes(batch[HEADER_SIZE:]), count))


@pytest.mark.parametrize("codec", [c for c in Compression if c is not Compression.NONE])
def test_decompression_above_the_limit_is_refused(codec: Compression) -> None:
    batch = build_batch([(b"k", bytes(5_000_000))], timestamp=NOW, compression=codec)
    packed = memoryview(batch)[HEADER_SIZE:]
    assert len(decompress(codec, packed, limit=6_000_000)) > 5_000_000
    with pytest.raises(UndecodableRecords):
        decompress(codec, packed, limit=4_000_000)


def test_snappy_without_xerial_framing_is_read() -> None:
    import cramjam

    assert (
        bytes(decompress(Compression.SNAPPY, bytes(cramjam.snappy.compress_raw(b"abc")))) == b"abc"
    )


def test_varints_are_zigzag() -> None:
    for value in (0, 1, -1, 63, 64, -64, -65, 300, 2**31 - 1, -(2**31), 2**63 - 1, -(2**63)):
        output = bytearray()
        write_varint(output, value)
        assert read_varint(bytes(output), 0) == (value, len(output))
    assert read_varint(b"\x01", 0) == (-1, 1)


def test_varint_without_an_end_is_undecodable() -> None:
    with pytest.raises(UndecodableRecords):
        read_varint(b"\xff" * 20, 0)


@pytest.mark.parametrize(
    "change",
    [
        lambda batch: struct.pack_into(">h", batch, 21, 0x48),
        lambda batch: struct.pack_into(">h", batch, 21, 0x40),
    ],
)
def test_attributes_decide_which_time_a_record_has(change: Callable[[bytearray], None]) -> None:
    batch = build_batch([Record(0, NOW, b"k", b"v"), Record(0, NOW + 5, b"k", b"v")], timestamp=NOW)
    change(batch)
    header = header_of(batch)
    assert header.delete_horizon == NOW
    expected = [NOW + 5, NOW + 5] if header.has_append_time else [NOW, NOW + 5]
    assert [r.timestamp for r in records_of(batch)] == expected
