"""Subscriptions and assignments of classic consumers, as bytes. Only conversions read them."""

import struct
from collections.abc import Mapping
from typing import NamedTuple

_VERSION = struct.Struct(">h")
_COUNT = struct.Struct(">i")
_LENGTH = struct.Struct(">h")
_OWNED_SINCE = 1
_NEWEST = 3

Owned = Mapping[str, frozenset[int]]
"""Partitions by topic name."""


class Subscription(NamedTuple):
    """The topics of a member, and the partitions that it has kept."""

    topics: frozenset[str]
    owned: Owned


class Unreadable(ValueError):
    """The bytes have another form."""


def read_subscription(data: bytes) -> Subscription:
    """Raises Unreadable."""
    reader = _Reader(data)
    version = reader.number(_VERSION)
    topics = frozenset(reader.string() for _ in range(reader.count()))
    reader.skip_bytes()
    owned = reader.partitions() if version >= _OWNED_SINCE else {}
    return Subscription(topics, owned)


def read_assignment(data: bytes) -> Owned:
    """Raises Unreadable. Members without an assignment have no bytes."""
    if not data:
        return {}
    reader = _Reader(data)
    reader.number(_VERSION)
    return reader.partitions()


def write_assignment(partitions: Owned, subscription: bytes) -> bytes:
    """An assignment in the version of the member's subscription."""
    (version,) = _VERSION.unpack_from(subscription) if len(subscription) >= 2 else (0,)
    parts = [_VERSION.pack(max(0, min(version, _NEWEST))), _COUNT.pack(len(partitions))]
    for topic, numbers in sorted(partitions.items()):
        name = topic.encode()
        parts += [_LENGTH.pack(len(name)), name, _COUNT.pack(len(numbers))]
        parts.append(struct.pack(f">{len(numbers)}i", *sorted(numbers)))
    parts.append(_COUNT.pack(-1))  # no user data
    return b"".join(parts)


class _Reader:
    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def number(self, form: struct.Struct) -> int:
        try:
            (value,) = form.unpack_from(self._data, self._at)
        except struct.error:
            raise Unreadable("it ends too early") from None
        self._at += form.size
        return int(value)

    def count(self) -> int:
        count = self.number(_COUNT)
        if count < 0 or count > len(self._data):
            raise Unreadable(f"a list of {count} elements")
        return count

    def string(self) -> str:
        length = self.number(_LENGTH)
        raw = self._data[self._at : self._at + max(length, 0)]
        if length < 0 or len(raw) < length:
            raise Unreadable(f"a name of {length} bytes")
        self._at += length
        try:
            return raw.decode()
        except UnicodeDecodeError:
            raise Unreadable("a name that is not UTF-8") from None

    def skip_bytes(self) -> None:
        length = self.number(_COUNT)
        self._at += max(length, 0)
        if self._at > len(self._data):
            raise Unreadable("it ends too early")

    def partitions(self) -> Owned:
        found: dict[str, frozenset[int]] = {}
        for _ in range(self.count()):
            topic = self.string()
            numbers = [self.number(_COUNT) for _ in range(self.count())]
            found[topic] = found.get(topic, frozenset()) | frozenset(numbers)
        return found
