"""Status: the state of every key that is not simply ACTIVE, and each partition's position.

Records of `<flow>.status`, compacted. A byte before every key tells an entry (`k`) from the
position (`p`), so no key of a user can be taken for the position. No entry, or a tombstone: ACTIVE.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from holdfast.errors import InvalidRecordError
from holdfast.flows.documents import Document, encode
from holdfast.flows.keys import key_to_json

ENTRY = b"k"
POSITION = b"p"
POSITION_KEY = POSITION


class KeyState(StrEnum):
    """ACTIVE → HELD → DRAINING → ACTIVE."""

    ACTIVE = "ACTIVE"
    HELD = "HELD"
    DRAINING = "DRAINING"


class Entry(NamedTuple):
    """One key in one partition, while it is held or draining. Offsets are source offsets, but for
    `held_from`, which is where its rows begin in `<flow>.held`.

    A tuple: driver and tasks make them, and send them to each other, by ten thousands a second.
    """

    key: bytes
    state: KeyState
    command_id: str
    """The hold (or the release, while draining) that put it into this state."""
    actor: str
    since: int
    cut: int
    held_from: int
    drained_through: int
    """Rows up to this one have left held, to processed or to the dead letters."""
    command_offset: int = -1
    """Where that command stands on the control log."""
    reason: str = ""
    expires_at: int | None = None
    pace: float | None = None
    dead_through: int = -1
    """Rows up to this one go to the dead letters, whatever the state becomes."""
    overflow: bool = False
    """The key is at its limit, and the journal says so."""
    foreign: bool = False
    """murmur2 gives this key another partition: a producer uses another partitioner."""
    events: int = 0
    bytes: int = 0
    oldest: int | None = None
    """The timestamp of the first event that is still held."""
    counted_through: int = -1
    """The last row that `events` and `bytes` count."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Position:
    """How far one partition is, written in the same transaction as what it speaks of."""

    offset: int
    control: int
    step: int
    owner: str
    last_held: int = -1
    """Source offset of the last event appended to held."""
    trim: int = 0
    """Rows of held below this offset are needed by nobody."""
    counted_from: int = -1
    """Where in held the rows begin that entries in status have not counted; -1: there are none."""
    settings: str = ""
    """The digest of the limits, policy and schema in force, as journalled."""
    overflow: bool = False
    """The flow is at its limit, and the journal says so."""
    topics: str = ""
    """Which topics these offsets are of, by parts of their ids: of a topic that was made anew they
    would mean other records."""


@dataclass(frozen=True, slots=True)
class Active:
    """A tombstone: the key has no entry in this partition any more."""

    key: bytes


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
        }
    )


def encode_active(key: bytes) -> tuple[bytes, None]:
    """Key and value of the tombstone that takes a key's entry away."""
    return ENTRY + key, None


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
        }
    )


def decode_status(key: bytes | None, value: bytes | None) -> Entry | Position | Active:
    """What a record of the status topic says, or InvalidRecordError."""
    kind = (key or b"")[:1]
    if key is not None and kind == ENTRY:
        return Active(key[1:]) if value is None else _entry(key[1:], value)
    if key == POSITION_KEY:
        return _position(value)
    raise InvalidRecordError(f"This status record has a key of no known kind: {key!r}.")


def encode_offset_metadata(position: Position) -> str:
    """The metadata that is committed beside the offset."""
    fields = {"control": position.control, "step": position.step, "owner": position.owner}
    return encode(fields).decode()


def decode_offset_metadata(offset: int, metadata: str) -> Position:
    """The position that a committed offset and its metadata speak of, or InvalidRecordError."""
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
        actor=document.text("actor"),
        reason=document.optional_text("reason") or "",
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
    )
    named = document.optional_key()
    document.end()
    if named != key:
        raise InvalidRecordError("This status entry names another key than its record.")
    return entry


def _state(text: str) -> KeyState:
    if text not in (KeyState.HELD, KeyState.DRAINING):
        raise InvalidRecordError(f"This status entry has an unknown state: {text!r}.")
    return KeyState(text)


def _position(value: bytes | None) -> Position:
    document = Document(value, "position record")
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
    )
    document.end()
    return position
