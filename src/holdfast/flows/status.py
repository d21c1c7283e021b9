"""Status: the state of every key that is not ACTIVE, the holds of prefixes and of the whole flow,
and each partition's position.

Records of `<flow>.status`, compacted. The first byte of the record's key distinguishes an entry
(`k`) and a scope (`s`) from the position (`p`), so no user's key is mistaken for the position. A
key without an entry, or with a tombstone, is ACTIVE; a scope likewise has no holds.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from operator import attrgetter
from typing import NamedTuple

from holdfast.errors import InvalidRecordError
from holdfast.flows.documents import Document, encode
from holdfast.flows.holds import StandingHold, hold_from_json, hold_to_json
from holdfast.flows.keys import key_to_json

ENTRY = b"k"
SCOPE = b"s"
POSITION = b"p"
POSITION_KEY = POSITION


class KeyState(StrEnum):
    """ACTIVE → HELD → DRAINING → ACTIVE."""

    ACTIVE = "ACTIVE"
    HELD = "HELD"
    DRAINING = "DRAINING"


class Entry(NamedTuple):
    """One key in one partition, while it is held or draining. Offsets are source offsets; only
    `held_from` is the offset of its first row in `<flow>.held`.

    A tuple, because driver and tasks create and exchange tens of thousands of them a second.
    """

    key: bytes
    state: KeyState
    command_id: str
    """The newest of its holds; while it drains, the release (or the hold that expired)."""
    actor: str
    since: int
    cut: int
    held_from: int
    drained_through: int
    """Rows up to this one have left held, to processed or to the dead letters."""
    command_offset: int = -1
    """The command's offset on the control log."""
    reason: str = ""
    expires_at: int | None = None
    pace: float | None = None
    dead_through: int = -1
    """Rows up to this one go to the dead letters, in any state."""
    overflow: bool = False
    """The key is at its limit, and the journal has recorded it."""
    foreign: bool = False
    """murmur2 assigns another partition: a producer uses another partitioner."""
    name: str = ""
    """The name of its newest hold."""
    prefix: bytes = b""
    """The prefix of its newest hold, if that holds a prefix."""
    others: tuple[StandingHold, ...] = ()
    """Its other holds, newest first. `command_id`, `actor`, `reason`, `expires_at`, `name` and
    `prefix` are those of the newest: most keys have one hold, and need no list."""
    attempts: int = 0
    """For a guard: how often its first row has failed."""
    error: str = ""
    """For a guard: the last failure, with the end of its traceback."""
    events: int = 0
    bytes: int = 0
    oldest: int | None = None
    """The timestamp of the first event that is still held."""
    counted_through: int = -1
    """The last row that `events` and `bytes` count."""

    @property
    def holds(self) -> tuple[StandingHold, ...]:
        """The holds that stand, newest first; none if it drains."""
        if self.state is not KeyState.HELD:
            return ()
        newest = StandingHold(
            self.command_id, self.command_offset, self.actor, self.reason, self.expires_at,
            self.name, self.prefix,
        )  # fmt: skip
        return (newest, *self.others)

    @property
    def next_expiry(self) -> int | None:
        """When the first of its holds expires."""
        if not self.others:
            return self.expires_at
        return min([h.expires_at for h in self.holds if h.expires_at is not None], default=None)

    def with_holds(self, holds: Iterable[StandingHold]) -> "Entry":
        """The entry with these holds, of which there is at least one."""
        newest, *others = sorted(holds, key=attrgetter("offset"), reverse=True)
        return self._replace(
            command_id=newest.id,
            command_offset=newest.offset,
            actor=newest.actor,
            reason=newest.reason,
            expires_at=newest.expires_at,
            name=newest.name,
            prefix=newest.prefix,
            others=tuple(others),
        )


def combined_state(states: Iterable[KeyState]) -> KeyState:
    """The state of a key whose partitions may differ: HELD in one of them is HELD."""
    combined = KeyState.ACTIVE
    for state in states:
        if state is KeyState.HELD:
            return state
        if state is KeyState.DRAINING:
            combined = state
    return combined


@dataclass(frozen=True, slots=True)
class KeyStatus:
    """The state of a key, with its entry in each partition where it has one."""

    key: bytes
    state: KeyState
    entries: tuple[tuple[int, Entry], ...] = ()
    prefix_holds: tuple[StandingHold, ...] = ()
    """Holds of its prefixes, if no event of it was held yet: then no partition has an entry."""

    @classmethod
    def of(cls, key: bytes, entries: Mapping[int, Entry]) -> "KeyStatus":
        """The status of a key, from its entries by partition."""
        state = combined_state([entry.state for entry in entries.values()])
        return cls(key, state, tuple(sorted(entries.items())))

    @property
    def holds(self) -> tuple[StandingHold, ...]:
        """The holds that stand, newest first. A partition that got events by another partitioner
        has the same ones, or some of them."""
        found = {(h.name, h.prefix): h for h in self.prefix_holds}
        found |= {(h.name, h.prefix): h for _, entry in self.entries for h in entry.holds}
        return tuple(sorted(found.values(), key=attrgetter("offset"), reverse=True))

    @property
    def events(self) -> int:
        """The number of its held events."""
        return sum([entry.events for _, entry in self.entries])

    @property
    def bytes(self) -> int:
        """The size of the keys and values of its held events."""
        return sum([entry.bytes for _, entry in self.entries])

    @property
    def oldest(self) -> int | None:
        """The timestamp of its first held event, if there is one."""
        times = [entry.oldest for _, entry in self.entries if entry.oldest is not None]
        return min(times, default=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Position:
    """The position of one partition, written in the transaction of its step."""

    offset: int
    control: int
    step: int
    owner: str
    last_held: int = -1
    """Source offset of the last event appended to held."""
    trim: int = 0
    """Rows of held below this offset are not needed."""
    counted_from: int = -1
    """The first row of held that entries in status have not counted; -1: all are counted."""
    settings: str = ""
    """The digest of the limits, policy and schema in force, as journalled."""
    overflow: bool = False
    """The flow is at its limit, and the journal has recorded it."""
    topics: str = ""
    """Parts of the ids of the topics of these offsets: in a topic that was deleted and created
    again they would mean other records."""
    epoch: int = -1
    """A leader epoch of the source partition in which its log had all events below `offset`; -1:
    unknown."""
    starts: int = 0
    """For a guard: how many workers in a row have died soon after they took the partition over;
    -1: the last owner gave it up in order."""
    alone: int = -1
    """For a guard: the source offset of the event that runs alone, because workers have crashed."""
    crashes: int = 0
    """For a guard: how many workers have crashed while that event ran alone."""
    circuit: bool = False
    """For a guard: the circuit of its owner is open."""


@dataclass(frozen=True, slots=True)
class ScopeStatus:
    """The holds of one scope in one partition: of a prefix, or of the whole flow (its pauses)."""

    scope: bytes
    """The prefix, or `WHOLE_FLOW`."""
    holds: tuple[StandingHold, ...] = ()
    """Newest first; none: the scope is not held, and has no record."""
    since: int = 0
    """When the first of them began."""
    cut: int = 0
    """The source offset from which it acts in this partition."""


@dataclass(frozen=True, slots=True)
class PrefixStatus:
    """A prefix that is held: its holds, and the keys of it that have held events, are draining or
    have holds of their own."""

    prefix: bytes
    holds: tuple[StandingHold, ...]
    since: int
    cuts: Mapping[int, int]
    """By partition, the source offset from which it is held."""
    keys: tuple[KeyStatus, ...] = ()


def combined_holds(statuses: Iterable[ScopeStatus]) -> tuple[StandingHold, ...]:
    """The holds of one scope in any of its partitions, newest first."""
    found = {(hold.name, hold.prefix): hold for status in statuses for hold in status.holds}
    return tuple(sorted(found.values(), key=attrgetter("offset"), reverse=True))


@dataclass(frozen=True, slots=True)
class Active:
    """A tombstone: the key has no entry in this partition."""

    key: bytes


_SHARED_TEXTS = 1_000
_texts: dict[str, str] = {}


def shared_text(text: str) -> str:
    """One object for equal texts: a million entries often have the same few reasons and errors."""
    if len(_texts) >= _SHARED_TEXTS:
        _texts.clear()
    return _texts.setdefault(text, text)


def encode_entry(entry: Entry) -> tuple[bytes, bytes]:
    """Key and value of an entry's record."""
    return ENTRY + entry.key, encode(
        {
            "state": entry.state.value,
            **key_to_json(entry.key),
            "command_id": entry.command_id,
            "command_offset": entry.command_offset,
            "actor": entry.actor,
            "reason": entry.reason or None,
            "since": entry.since,
            "cut": entry.cut,
            "expires_at": entry.expires_at,
            "pace": entry.pace,
            "held_from": entry.held_from,
            "drained_through": entry.drained_through,
            "dead_through": entry.dead_through,
            "events": entry.events,
            "bytes": entry.bytes,
            "oldest": entry.oldest,
            "counted_through": entry.counted_through,
            "overflow": entry.overflow or None,
            "foreign": entry.foreign or None,
            "name": entry.name or None,
            **(key_to_json(entry.prefix, "prefix") if entry.prefix else {}),
            "others": [hold_to_json(hold) for hold in entry.others] or None,
            "attempts": entry.attempts or None,
            "error": entry.error or None,
        }
    )


def encode_active(key: bytes) -> tuple[bytes, None]:
    """Key and value of the tombstone that removes a key's entry."""
    return ENTRY + key, None


def encode_scope(status: ScopeStatus) -> tuple[bytes, bytes | None]:
    """Key and value of a scope's record: a tombstone if it has no holds."""
    if not status.holds:
        return SCOPE + status.scope, None
    return SCOPE + status.scope, encode(
        {
            **key_to_json(status.scope, "scope"),
            "holds": [hold_to_json(hold) for hold in status.holds],
            "since": status.since,
            "cut": status.cut,
        }
    )


def encode_status(record: Entry | Active | ScopeStatus) -> tuple[bytes, bytes | None]:
    """Key and value of a record of an entry, of its end, or of a scope."""
    match record:
        case Entry():
            return encode_entry(record)
        case Active():
            return encode_active(record.key)
        case ScopeStatus():
            return encode_scope(record)


def encode_position(position: Position) -> tuple[bytes, bytes]:
    """Key and value of a position's record."""
    return POSITION_KEY, encode(
        {
            "offset": position.offset,
            "control": position.control,
            "step": position.step,
            "owner": position.owner,
            "last_held": position.last_held,
            "trim": position.trim,
            "counted_from": position.counted_from,
            "settings": position.settings,
            "overflow": position.overflow or None,
            "topics": position.topics or None,
            "epoch": None if position.epoch < 0 else position.epoch,
            "starts": position.starts or None,
            "alone": None if position.alone < 0 else position.alone,
            "crashes": position.crashes or None,
            "circuit": position.circuit or None,
        }
    )


def decode_status(
    key: bytes | None, value: bytes | None
) -> Entry | Position | Active | ScopeStatus:
    """The content of a record of the status topic, or InvalidRecordError."""
    kind = (key or b"")[:1]
    if key is not None and kind == ENTRY:
        return Active(key[1:]) if value is None else _entry(key[1:], value)
    if key is not None and kind == SCOPE:
        return ScopeStatus(key[1:]) if value is None else _scope(key[1:], value)
    if key == POSITION_KEY:
        return _position(value)
    raise InvalidRecordError(f"This status record has a key of no known kind: {key!r}.")


def encode_offset_metadata(position: Position) -> str:
    """The metadata of a committed offset."""
    fields = {"control": position.control, "step": position.step, "owner": position.owner}
    return encode(fields).decode()


def decode_offset_metadata(offset: int, metadata: str) -> Position:
    """The position in a committed offset and its metadata, or InvalidRecordError."""
    document = Document(metadata.encode(), "committed offset")
    position = Position(
        offset=offset,
        control=document.integer("control"),
        step=document.integer("step"),
        owner=document.text("owner"),
    )
    document.end()
    return position


def _entry(key: bytes, value: bytes) -> Entry:
    document = Document(value, "status entry")
    entry = Entry(
        key=key,
        state=_state(document.text("state")),
        command_id=document.text("command_id"),
        command_offset=document.integer("command_offset"),
        actor=shared_text(document.text("actor")),
        reason=shared_text(document.optional_text("reason") or ""),
        since=document.integer("since"),
        cut=document.integer("cut"),
        expires_at=document.optional_integer("expires_at"),
        pace=document.optional_number("pace"),
        held_from=document.integer("held_from"),
        drained_through=document.integer("drained_through"),
        dead_through=document.integer("dead_through"),
        events=document.integer("events"),
        bytes=document.integer("bytes"),
        oldest=document.optional_integer("oldest"),
        counted_through=document.integer("counted_through"),
        overflow=document.flag("overflow"),
        foreign=document.flag("foreign"),
        name=shared_text(document.optional_text("name") or ""),
        prefix=document.optional_key("prefix") or b"",
        others=tuple(hold_from_json(hold) for hold in document.objects("others")),
        attempts=document.optional_integer("attempts") or 0,
        error=shared_text(document.optional_text("error") or ""),
    )
    named = document.optional_key()
    document.end()
    if named != key:
        raise InvalidRecordError("This status entry names another key than its record.")
    return entry


def _scope(scope: bytes, value: bytes) -> ScopeStatus:
    document = Document(value, "status of a scope")
    status = ScopeStatus(
        scope=scope,
        holds=tuple(hold_from_json(hold) for hold in document.objects("holds")),
        since=document.integer("since"),
        cut=document.integer("cut"),
    )
    named = document.optional_key("scope")
    document.end()
    if named != scope:
        raise InvalidRecordError("This status of a scope names another one than its record.")
    return status


def _state(text: str) -> KeyState:
    if text not in (KeyState.HELD, KeyState.DRAINING):
        raise InvalidRecordError(f"This status entry has an unknown state: {text!r}.")
    return KeyState(text)


def _position(value: bytes | None) -> Position:
    document = Document(value, "position record")
    epoch = document.optional_integer("epoch")
    alone = document.optional_integer("alone")
    position = Position(
        offset=document.integer("offset"),
        control=document.integer("control"),
        step=document.integer("step"),
        owner=document.text("owner"),
        last_held=document.integer("last_held"),
        trim=document.integer("trim"),
        counted_from=document.integer("counted_from"),
        settings=document.text("settings"),
        overflow=document.flag("overflow"),
        topics=document.optional_text("topics") or "",
        epoch=-1 if epoch is None else epoch,
        starts=document.optional_integer("starts") or 0,
        alone=-1 if alone is None else alone,
        crashes=document.optional_integer("crashes") or 0,
        circuit=document.flag("circuit"),
    )
    document.end()
    return position
