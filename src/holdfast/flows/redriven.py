"""Marks on dead letters that were redriven: records of the compacted topic `holdfast.redriven`.

A mark is written in the transaction that redrives its letter, so a letter is marked if and only if
it was redriven. The key has the flow's name and the time of its creation: a flow that is deleted
and created again has no marks.
"""

from dataclasses import dataclass

from holdfast.errors import InvalidArgumentError, InvalidRecordError
from holdfast.flows.documents import Document, encode, read_fields, write_fields
from holdfast.flows.registry import FlowDefinition
from holdfast.flows.run_specs import Coordinate

REDRIVEN_TOPIC = "holdfast.redriven"


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """A dead letter was redriven."""

    letter: Coordinate
    run: str
    actor: str
    at: int
    attempt: int
    """The number of the attempt at the event: the first redrive is attempt 2."""


def marks_prefix(flow: FlowDefinition) -> bytes:
    """The common prefix of the keys of a flow's marks."""
    return f"{flow.name}@{flow.created_at}/".encode()


def encode_mark(flow: FlowDefinition, mark: Mark) -> tuple[bytes, bytes]:
    """Key and value of the mark's record."""
    return marks_prefix(flow) + str(mark.letter).encode(), encode(write_fields(mark))


def decode_run(value: bytes | None) -> str:
    """The run in the value of a mark, whichever flow's it is; or InvalidRecordError."""
    run: str = read_fields(Mark, Document(value, "mark of a redrive"))["run"]
    return run


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
    mark = Mark(letter=letter, **read_fields(Mark, document))
    document.end()
    return mark
