"""The journal: the outcome of each command, one record of `<flow>.journal` each.

A record is in the partition that it concerns, with the key that it is about. Expiry, the end of a
drain, overflow and changed settings are journalled too, without a command.

Every partition answers a command about a prefix or the whole flow with a record without a key, and
with one for each key whose state or holds it changes.
"""

from dataclasses import dataclass
from enum import StrEnum

from holdfast.errors import InvalidRecordError
from holdfast.flows.documents import Document, encode
from holdfast.flows.holds import StandingHold, hold_from_json, hold_to_json
from holdfast.flows.keys import key_to_json


class Outcome(StrEnum):
    """The outcome of a command, or another event of the gate."""

    HELD = "held"
    ADDED = "added"
    """A hold of a key that is held under another name already."""
    UPDATED = "updated"
    """A hold with the name of one that stands: it replaces its reason and expiry. Or a release of a
    draining key, which changes the pace."""
    REFUSED = "refused"
    """A hold of a key that has as many as a key may have."""
    RELEASED = "released"
    """The release ended the key's last hold: its events leave held."""
    HOLD_RELEASED = "hold-released"
    """The release ended a hold, and others stand: the key stays held."""
    DEAD_LETTERED = "dead-lettered"
    NOTHING_TO_DO = "nothing-to-do"
    SUPERSEDED = "superseded"
    """A later hold or release of the same step was applied instead. Only in journals that were
    written before a key could have several holds."""
    DUPLICATE = "duplicate"
    """There was an earlier command with this id."""
    VOIDED = "voided"
    UNREADABLE = "unreadable"
    EXPIRED = "expired"
    """The key's last hold has expired."""
    HOLD_EXPIRED = "hold-expired"
    """A hold has expired, and others stand: the key stays held."""
    PAUSED = "paused"
    """The flow takes no events from the cut on."""
    RESUMED = "resumed"
    """The last pause has ended: events from the cut on are taken."""
    DRAINED = "drained"
    OVERFLOW_BEGUN = "overflow-begun"
    OVERFLOW_ENDED = "overflow-ended"
    CHANGED = "changed"
    """Limits, policy or schema have changed from the cut on."""
    LOSS_ACCEPTED = "loss-accepted"
    """Events from the cut on were deleted before they were read, and an operator accepted it."""
    OVERSIZED = "oversized"
    """Events are dead letters because they exceed the size limits of the output topics."""
    SKIPPED = "skipped"
    """Events from the cut on cannot be read, and a command has skipped them."""
    CIRCUIT_OPENED = "circuit-opened"
    """A guard takes no events: those of many keys have failed."""
    CIRCUIT_CLOSED = "circuit-closed"
    """A guard takes events again: one has succeeded."""


@dataclass(frozen=True, slots=True)
class CommandReference:
    """The command of a journal record: its id, its name, its offset on the control log."""

    id: str
    name: str
    offset: int


@dataclass(frozen=True, slots=True, kw_only=True)
class JournalRecord:
    """One outcome in one partition, and its cut: the source offset from which it applies."""

    outcome: Outcome
    cut: int
    step: int
    at: int
    key: bytes | None = None
    command: CommandReference | None = None
    first: int | None = None
    """For a duplicate: the control offset of the first command with this id."""
    superseded_by: int | None = None
    """The control offset of the command that was applied instead."""
    drained_through: int | None = None
    """For a hold that stopped a drain, a dead-letter, or a drain's end: the last source offset that
    had left held."""
    lost_until: int | None = None
    """For an accepted loss: the first source offset that still existed. For skipped events: the
    offset after them."""
    name: str = ""
    """The name of the hold that began, changed or expired."""
    ended: tuple[str, ...] = ()
    """For a release: the names of the holds that it ended."""
    others: tuple[StandingHold, ...] = ()
    """The other holds of the key, prefix or flow, which stand after this."""
    prefix: bytes = b""
    """The prefix of the hold that it is about, or of those that it ended."""
    settings: str = ""
    """As JSON. For a change: the limits, policy and schema from the cut on. For oversized events:
    the lowest limit (`max.message.bytes`), and the source offsets, `first` to before `until`,
    between which they are."""
    note: str = ""


def encode_journal(record: JournalRecord) -> tuple[bytes | None, bytes]:
    """Key and value of the journal's record."""
    command = record.command
    return record.key, encode(
        {
            "outcome": record.outcome.value,
            **({} if record.key is None else key_to_json(record.key)),
            "cut": record.cut,
            "step": record.step,
            "at": record.at,
            "command_id": command and command.id,
            "command": command and command.name,
            "command_offset": None if command is None else command.offset,
            "first": record.first,
            "superseded_by": record.superseded_by,
            "drained_through": record.drained_through,
            "lost_until": record.lost_until,
            "name": record.name or None,
            "ended": list(record.ended) or None,
            "others": [hold_to_json(hold) for hold in record.others] or None,
            **(key_to_json(record.prefix, "prefix") if record.prefix else {}),
            "settings": record.settings or None,
            "note": record.note or None,
        }
    )


def decode_journal(key: bytes | None, value: bytes | None) -> JournalRecord:
    """The outcome in a record of the journal, or InvalidRecordError."""
    document = Document(value, "journal record")
    record = JournalRecord(
        outcome=_outcome(document.text("outcome")),
        cut=document.integer("cut"),
        step=document.integer("step"),
        at=document.integer("at"),
        key=document.optional_key(),
        command=_reference(document),
        first=document.optional_integer("first"),
        superseded_by=document.optional_integer("superseded_by"),
        drained_through=document.optional_integer("drained_through"),
        lost_until=document.optional_integer("lost_until"),
        name=document.optional_text("name") or "",
        ended=document.texts("ended"),
        others=tuple(hold_from_json(hold) for hold in document.objects("others")),
        prefix=document.optional_key("prefix") or b"",
        settings=document.optional_text("settings") or "",
        note=document.optional_text("note") or "",
    )
    document.end()
    if record.key != key:
        raise InvalidRecordError("This journal record names another key than its own.")
    return record


def _outcome(text: str) -> Outcome:
    try:
        return Outcome(text)
    except ValueError:
        raise InvalidRecordError(f"This journal record has an unknown outcome: {text!r}.") from None


def _reference(document: Document) -> CommandReference | None:
    identity = document.optional_text("command_id")
    name = document.optional_text("command")
    offset = document.optional_integer("command_offset")
    if offset is None:
        return None
    # An unreadable command has an offset, but neither id nor name that could be trusted.
    return CommandReference(identity or "", name or "", offset)
