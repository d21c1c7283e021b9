"""The journal: what came of each command, one record of `<flow>.journal` each.

A record stands in the partition that it speaks for, under the key that it is about. Expiry, the
end of a drain, overflow and changed settings are journalled too, without a command.
"""

from dataclasses import dataclass
from enum import StrEnum

from holdfast.errors import InvalidRecordError
from holdfast.flows.documents import Document, encode
from holdfast.flows.keys import key_to_json


class Outcome(StrEnum):
    """What happened."""

    HELD = "held"
    UPDATED = "updated"
    """A hold of a held key: reason and expiry are the new ones."""
    RELEASED = "released"
    DEAD_LETTERED = "dead-lettered"
    NOTHING_TO_DO = "nothing-to-do"
    SUPERSEDED = "superseded"
    """A later hold or release of the same step acted instead."""
    DUPLICATE = "duplicate"
    """A command with this id was there before."""
    VOIDED = "voided"
    UNREADABLE = "unreadable"
    EXPIRED = "expired"
    DRAINED = "drained"
    OVERFLOW_BEGUN = "overflow-begun"
    OVERFLOW_ENDED = "overflow-ended"
    CHANGED = "changed"
    """Limits, policy or schema are others from the cut on."""
    LOSS_ACCEPTED = "loss-accepted"
    """Events from the cut on were deleted before they were read, and someone said to go on."""


@dataclass(frozen=True, slots=True)
class CommandReference:
    """Which command a journal record answers: its id, its name, its offset on the control log."""

    id: str
    name: str
    offset: int


@dataclass(frozen=True, slots=True, kw_only=True)
class JournalRecord:
    """One outcome in one partition, and the cut: the source offset from which it acts."""

    outcome: Outcome
    cut: int
    step: int
    at: int
    key: bytes | None = None
    command: CommandReference | None = None
    first: int | None = None
    """Of a duplicate: the control offset of the first command with this id."""
    superseded_by: int | None = None
    """The control offset of the command that acted instead."""
    drained_through: int | None = None
    """Of a hold that stopped a drain, a dead-letter, or a drain's end: the last source offset that
    had left held by then."""
    lost_until: int | None = None
    """Of an accepted loss: the first source offset that was still there."""
    settings: str = ""
    """Of a change: the limits, policy and schema from the cut on, as JSON."""
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
