"""The quick check of framing against the slow decoder: both must know the same batches."""

import random

import pytest

from holdfast.wire.records.batch import HEADER_SIZE, build_batch
from holdfast.wire.records.compression import UndecodableRecords
from holdfast.wire.records.framing import FramingCheck
from holdfast.wire.records.record import Record, decode_records, read_varint, write_varint

NOW = 1_700_000_000_000


def payload(records: list[Record]) -> bytearray:
    return build_batch(records, timestamp=NOW)[HEADER_SIZE:]


def is_framed(data: bytes | bytearray, count: int, at_a_time: int = 1 << 30) -> bool:
    check = FramingCheck(data, count)
    try:
        while not check.run(at_a_time):
            pass
    except UndecodableRecords:
        return False
    return True


def is_decodable(data: bytes | bytearray, count: int) -> bool:
    try:
        records = list(
            decode_records(
                memoryview(data),
                count=count,
                compression=0,
                base_offset=0,
                base_timestamp=0,
                append_time=None,
            )
        )
    except UndecodableRecords:
        return False
    return [record.offset for record in records] == list(range(count))


def some_records(randomness: random.Random, count: int) -> list[Record]:
    """Runs of the same shape, and others; deltas of all widths; headers here and there."""
    records = []
    timestamp = NOW
    sizes = [randomness.choice((0, 5, 70, 200)) for _ in range(3)]
    for _ in range(count):
        timestamp += randomness.choice((0, 0, 0, 1, 50))
        key = None if randomness.random() < 0.02 else b"k" * sizes[0]
        size = sizes[1] if randomness.random() < 0.95 else randomness.randrange(200)
        value = None if randomness.random() < 0.02 else b"v" * size
        headers = ((b"h" * sizes[2], None), (b"", b"v")) if randomness.random() < 0.02 else ()
        records.append(Record(-1, timestamp, key, value, headers))
    return records


@pytest.mark.parametrize("count", [1, 2, 63, 64, 65, 300, 8191, 8193, 9000])
def test_valid_batches_of_any_shape_pass(count: int) -> None:
    data = payload(some_records(random.Random(count), count))
    assert is_framed(data, count)
    assert is_framed(data, count, at_a_time=7)
    assert not is_framed(data, count + 1)
    assert not is_framed(data, count - 1)
    assert not is_framed(data + b"\0", count)
    assert not is_framed(data[:-1], count)


def test_damaged_batch_passes_only_if_the_decoder_reads_it() -> None:
    randomness = random.Random(1)
    for _ in range(60):
        count = randomness.choice((1, 5, 40, 90, 200))
        whole = payload(some_records(randomness, count))
        for _ in range(60):
            data = bytearray(whole)
            for _ in range(randomness.randint(1, 2)):
                data[randomness.randrange(len(data))] = randomness.randrange(256)
            at_a_time = randomness.choice((1, 7, 1 << 30))
            if is_framed(data, count, at_a_time):
                assert is_decodable(data, count)
            elif is_decodable(data, count):
                assert has_odd_number(data, count)


def has_odd_number(data: bytes | bytearray, count: int) -> bool:
    """Returns True if a length is below -1, which our decoder reads as null and others refuse."""
    position = 0
    for _ in range(count):
        size, position = read_varint(data, position)
        end = position + size
        _, position = read_varint(data, position + 1)
        _, position = read_varint(data, position)
        for _ in range(2):
            size, position = read_varint(data, position)
            if size < -1:
                return True
            position += max(size, 0)
        headers, position = read_varint(data, position)
        for _ in range(headers):
            size, position = read_varint(data, position)
            size, position = read_varint(data, position + size)
            if size < -1:
                return True
            position += max(size, 0)
        position = end
    return False


def test_every_wrong_framing_byte_in_a_run_is_detected() -> None:
    """In the middle of many records of one shape, where they are compared all at once."""
    count = 200
    data = payload([Record(-1, NOW + 100, b"key", b"v" * 100)] * count)
    size = len(payload([Record(-1, NOW + 100, b"key", b"v" * 100)] * 101)) - len(
        payload([Record(-1, NOW + 100, b"key", b"v" * 100)] * 100)
    )
    start = len(payload([Record(-1, NOW + 100, b"key", b"v" * 100)] * 100))
    for place in range(start, start + size):
        wrong = bytearray(data)
        wrong[place] ^= 0x01
        assert is_framed(wrong, count) == is_decodable(wrong, count), place - start


def test_unterminated_lengths_and_timestamps_are_refused() -> None:
    endless = b"\xff" * 20 + b"\x00"
    body = bytearray(b"\x00") + endless + b"\x00\x01\x01\x00"
    data = bytearray()
    write_varint(data, len(body))
    assert not is_framed(data + body, 1)
    assert not is_framed(endless + body, 1)
