"""How large a record is on the wire: known before it is sent."""

from collections.abc import Sequence

LARGEST_REQUEST = 100 * 1024**2
"""Kafka's default for the largest request (`socket.request.max.bytes`): a broker closes the
connection on a larger one, whatever the topic's limit is."""
BATCH_HEADER_BYTES = 61
"""Of a record batch. `holdfast.wire`, which has it too, needs packages that a client does not."""


def wire_size(
    key: bytes | None,
    value: bytes | None,
    headers: Sequence[tuple[str | bytes, str | bytes | None]],
) -> int:
    """The bytes of a batch that has this record alone: what a topic's limit is compared with."""
    body = 3 + _field(key) + _field(value) + _varint(len(headers))
    for name, content in headers:
        body += _field(name) + _field(content)
    return BATCH_HEADER_BYTES + _varint(body) + body


def _field(data: str | bytes | None) -> int:
    if data is None:
        return 1
    size = len(data.encode()) if isinstance(data, str) else len(data)
    return _varint(size) + size


def _varint(number: int) -> int:
    """Bytes of a number that is not negative, as a zigzag varint."""
    return max(1, -(-(2 * number).bit_length() // 7))
