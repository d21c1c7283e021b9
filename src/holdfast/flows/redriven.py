"""Marks on dead letters that were redriven: records of the compacted topic `holdfast.redriven`.

A mark is written in the transaction that redrives its letter, so a letter is marked if and only if
it was redriven. The key names the flow with the time at which it was made: a flow that is deleted
and made anew begins without marks.
"""

from dataclasses import dataclass

from holdfast.errors import InvalidArgumentError, InvalidRecordError
from holdfast.flows.documents import Document, encode
from holdfast.flows.registry import FlowDefinition
from holdfast.flows.work import Coordinate

REDRIVEN_TOPIC = "holdfast.redriven"


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """A dead letter was redriven."""

    letter: Coordinate
    run: str
    actor: str
    at: int
    attempt: int
    """Which attempt at the event the redrive has begun; its first was the second."""


def marks_prefix(flow: FlowDefinition) -> bytes:
    """What the keys of all marks of a flow begin with."""
    return f"{flow.name}@{flow.created_at}/".encode()


def encode_mark(flow: FlowDefinition, mark: Mark) -> tuple[bytes, bytes]:
    """Key and value of the mark's record."""
    return marks_prefix(flow) + str(mark.letter).encode(), encode(
        {"run": mark.run, "actor": mark.actor, "at": mark.at, "attempt": mark.attempt}
    )


def decode_mark(flow: FlowDefinition, key: bytes | None, value: bytes | None) -> Mark | None:
    """The mark in a record, None if it is of another flow, or InvalidRecordError."""
    prefix = marks_prefix(flow)
    if key is None or not key.startswith(prefix):
        return None
    document = Document(value, "mark of a redrive")
    try:
        letter = Coordinate.parse(key[len(prefix) :].decode(errors="replace"))
    except InvalidArgumentError as error:
        raise InvalidRecordError(f"This mark of a redrive cannot be read: {error}") from None
    mark = Mark(
        letter=letter,
        run=document.text("run"),
        actor=document.text("actor"),
        at=document.integer("at"),
        attempt=document.integer("attempt"),
    )
    document.end()
    return mark
