"""The flows of a run, and what their events look like."""

import re
from dataclasses import dataclass

from holdfast.client.client import Client
from holdfast.flows.registry import Limits

KEYS = 20
OVERSIZED_BYTES = 3 * 1024**2


@dataclass(frozen=True, slots=True)
class ChaosFlow:
    """A flow under test."""

    name: str
    partitions: int
    schema: str | None = None
    key_limit: int | None = None
    """Events that may be held of a key; more go to the dead letters."""

    def create(self, client: Client) -> None:
        client.flow(self.name).create(
            partitions=self.partitions,
            schema=self.schema,
            limits=Limits(key_events=self.key_limit) if self.key_limit else None,
            overflow="dead-letter" if self.key_limit else "block",
        )

    @property
    def keys(self) -> list[bytes]:
        return [b"%s-%d" % (self.name.encode(), i) for i in range(KEYS)]

    def oversized_value(self, identity: int) -> bytes:
        """Valid, and larger than the flow's topics take. It is compressed well below the limit of
        events."""
        return self.value(identity, valid=True) + b" " * OVERSIZED_BYTES

    def value(self, identity: int, valid: bool) -> bytes:
        if self.schema is None:
            return b"event %d" % identity
        return b'{"id": %d}' % identity if valid else b'{"id": "%d"' % identity


FLOWS = (
    ChaosFlow("orders", 2),
    ChaosFlow("payments", 3, schema="id BIGINT NOT NULL"),
    ChaosFlow("devices", 2, key_limit=400),
)
"""The first is the one that is read downstream."""

_NUMBER = re.compile(rb"\d+")


def identity_of(value: bytes | None) -> int:
    """The id in a value of any of them; -1 if there is none."""
    found = _NUMBER.search(value or b"")
    return -1 if found is None else int(found[0])
