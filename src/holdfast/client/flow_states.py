"""The states of a flow's keys and scopes, read from its status topic."""

from collections.abc import Mapping
from dataclasses import dataclass

from holdfast.client.compacted_topic import read_topic
from holdfast.client.connection import Connection
from holdfast.client.log_reader import LogReader
from holdfast.client.positions import Offsets, Partition
from holdfast.flows.holds import WHOLE_FLOW, StandingHold
from holdfast.flows.status import (
    ENTRY,
    Active,
    Entry,
    KeyState,
    KeyStatus,
    PrefixStatus,
    ScopeStatus,
    combined_holds,
    decode_status,
)


@dataclass(frozen=True, slots=True)
class FlowStates:
    """Every key that is not simply ACTIVE, and every scope that is held, as of one reading."""

    entries: Mapping[bytes, Mapping[int, Entry]]
    """By key and partition."""
    scopes: Mapping[bytes, Mapping[int, ScopeStatus]]
    """By scope and partition. A scope is a prefix, or the whole flow."""

    def status_of(self, key: bytes) -> KeyStatus:
        if key in self.entries:
            return KeyStatus.of(key, self.entries[key])
        holds = combined_holds(
            status
            for scope, statuses in self.scopes.items()
            if scope != WHOLE_FLOW and key.startswith(scope)
            for status in statuses.values()
        )
        return KeyStatus(key, KeyState.HELD if holds else KeyState.ACTIVE, prefix_holds=holds)

    def held_keys(self) -> list[KeyStatus]:
        return [KeyStatus.of(key, entries) for key, entries in sorted(self.entries.items())]

    def held_prefixes(self) -> list[PrefixStatus]:
        keys = self.held_keys()
        return [
            PrefixStatus(
                prefix=prefix,
                holds=combined_holds(statuses.values()),
                since=min(status.since for status in statuses.values()),
                cuts={p: status.cut for p, status in sorted(statuses.items())},
                keys=tuple(status for status in keys if status.key.startswith(prefix)),
            )
            for prefix, statuses in sorted(self.scopes.items())
            if prefix != WHOLE_FLOW
        ]

    def holds_of_scope(self, scope: bytes) -> tuple[StandingHold, ...]:
        """Newest first."""
        return combined_holds(self.scopes.get(scope, {}).values())


def read_states(connection: Connection, topic: str) -> FlowStates:
    """Reads a status topic to its present end."""
    entries: dict[bytes, dict[int, Entry]] = {}
    scopes: dict[bytes, dict[int, ScopeStatus]] = {}
    for record in read_topic(connection, topic):
        match decode_status(record.key, record.value):
            case Entry() as entry:
                entries.setdefault(entry.key, {})[record.partition] = entry
            case Active(key):
                entries.get(key, {}).pop(record.partition, None)
            case ScopeStatus() as status:
                scopes.setdefault(status.scope, {})[record.partition] = status
    held = {
        scope: {p: status for p, status in statuses.items() if status.holds}
        for scope, statuses in scopes.items()
    }
    return FlowStates(
        {key: by_partition for key, by_partition in entries.items() if by_partition},
        {scope: statuses for scope, statuses in held.items() if statuses},
    )


def read_holds(connection: Connection, status: Partition, key: bytes) -> tuple[StandingHold, ...]:
    """The holds of one key, from one partition of a status topic."""
    offsets = Offsets(connection)
    start, end = offsets.starts([status])[status], offsets.ends([status])[status]
    reader, last = LogReader(connection, isolation="read_committed"), None
    try:
        for messages in reader.read(status, start, end):
            last = next((m for m in reversed(messages) if m.key() == ENTRY + key), last)
    finally:
        reader.close()
    entry = None if last is None else decode_status(last.key(), last.value())
    return entry.holds if isinstance(entry, Entry) else ()
