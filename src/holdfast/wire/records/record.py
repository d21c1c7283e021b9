"""Single records inside a batch: zigzag varints, deltas, headers."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from holdfast.wire.records.compression import UndecodableRecords, decompress


class Record(NamedTuple):
    """One record, with absolute offset and time."""

    offset: int
    timestamp: int
    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[bytes, bytes | None], ...] = ()
    """Names stay bytes: clients should write UTF-8, but nothing enforces it."""


class Outline(NamedTuple):
    """Time and offset of a record, relative to its batch."""

    timestamp_delta: int
    offset_delta: int


def decode_records(
    payload: bytes | memoryview,
    *,
    count: int,
    compression: int,
    base_offset: int,
    base_timestamp: int,
    append_time: int | None,
) -> Iterator[Record]:
    """The `count` records in `payload`. Raises UndecodableRecords unless they fill it exactly."""
    if count <= 0:
        return
    data = decompress(compression, payload)
    position = 0
    try:
        for _ in range(count):
            size, position = read_varint(data, position)
            end = position + size
            if size < 0 or end > len(data):
                raise UndecodableRecords("A record is longer than its batch")
            timestamp_delta, position = read_varint(data, position + 1)
            offset_delta, position = read_varint(data, position)
            key, position = _read_bytes(data, position)
            value, position = _read_bytes(data, position)
            headers, position = _read_headers(data, position)
            if position != end:
                raise UndecodableRecords("A record's length does not fit its fields")
            yield Record(
                base_offset + offset_delta,
                base_timestamp + timestamp_delta if append_time is None else append_time,
                key,
                value,
                headers,
            )
    except IndexError:
        raise UndecodableRecords("A batch ends within a record") from None
    if position != len(data):
        raise UndecodableRecords("A batch has more bytes than its records")


def outlines(data: bytes | bytearray, count: int) -> Iterator[Outline]:
    """The outlines of `count` uncompressed records, without decoding the rest of each."""
    position = 0
    try:
        for _ in range(count):
            size, position = read_varint(data, position)
            end = position + size
            if size < 0 or end > len(data):
                raise UndecodableRecords("A record is longer than its batch")
            timestamp_delta, position = read_varint(data, position + 1)
            offset_delta, _ = read_varint(data, position)
            yield Outline(timestamp_delta, offset_delta)
            position = end
    except IndexError:
        raise UndecodableRecords("A batch ends within a record") from None
    if position != len(data):
        raise UndecodableRecords("A batch has more bytes than its records")


def encode_record(output: bytearray, record: Record, base_offset: int, base_timestamp: int) -> None:
    """Append `record` to `output`, encoded relative to the batch's base offset and timestamp."""
    body = bytearray(1)  # attributes: unused by the protocol
    write_varint(body, record.timestamp - base_timestamp)
    write_varint(body, record.offset - base_offset)
    _write_bytes(body, record.key)
    _write_bytes(body, record.value)
    _write_headers(body, record.headers)
    write_varint(output, len(body))
    output += body


def pack_headers(headers: Sequence[tuple[bytes, bytes | None]]) -> bytes:
    """The headers as encoded at the end of a record: their number, then each of them."""
    output = bytearray()
    _write_headers(output, headers)
    return bytes(output)


def unpack_headers(data: bytes) -> tuple[tuple[bytes, bytes | None], ...]:
    """The headers that `pack_headers` encoded. Raises UndecodableRecords for any other bytes."""
    try:
        headers, position = _read_headers(data, 0)
    except IndexError:
        raise UndecodableRecords("A record ends within its headers") from None
    if position != len(data):
        raise UndecodableRecords("A record has more bytes than its headers")
    return headers


def read_varint(data: bytes | bytearray, position: int) -> tuple[int, int]:
    """A zigzag varint and the position after it. Raises IndexError past the end."""
    byte = data[position]
    position += 1
    if byte < 0x80:
        return (byte >> 1) ^ -(byte & 1), position
    value = byte & 0x7F
    shift = 7
    while True:
        byte = data[position]
        position += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return (value >> 1) ^ -(value & 1), position
        shift += 7
        if shift > 63:
            raise UndecodableRecords("A varint does not end")


def write_varint(output: bytearray, value: int) -> None:
    value = value << 1 if value >= 0 else (-value << 1) - 1
    while value > 0x7F:
        output.append((value & 0x7F) | 0x80)
        value >>= 7
    output.append(value)


def _read_bytes(data: bytes | bytearray, position: int) -> tuple[bytes | None, int]:
    size, position = read_varint(data, position)
    if size < 0:
        return None, position
    end = position + size
    if end > len(data):
        raise UndecodableRecords("A field is longer than its batch")
    return bytes(data[position:end]), end


def _read_headers(
    data: bytes | bytearray, position: int
) -> tuple[tuple[tuple[bytes, bytes | None], ...], int]:
    count, position = read_varint(data, position)
    if count == 0:
        return (), position
    if count < 0 or count > len(data):
        raise UndecodableRecords("A record has an impossible number of headers")
    headers = []
    for _ in range(count):
        name, position = _read_bytes(data, position)
        if name is None:
            raise UndecodableRecords("A header has no name")
        value, position = _read_bytes(data, position)
        headers.append((name, value))
    return tuple(headers), position


def _write_headers(output: bytearray, headers: Sequence[tuple[bytes, bytes | None]]) -> None:
    write_varint(output, len(headers))
    for name, value in headers:
        _write_bytes(output, name)
        _write_bytes(output, value)


def _write_bytes(output: bytearray, value: bytes | None) -> None:
    if value is None:
        write_varint(output, -1)
        return
    write_varint(output, len(value))
    output += value
