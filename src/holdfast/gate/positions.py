"""Compare, then act: whether a partition may be worked on, and from where."""

from holdfast.errors import FencedError, GateStoppedError
from holdfast.flows.status import Position


def starting_position(
    committed: Position | None, recorded: Position | None, *, journal_is_empty: bool
) -> Position | None:
    """Where a partition goes on, by its committed offset and the position record in its status.

    None for both is the very first start, but only while the journal is empty. A committed offset
    without readable metadata counts as none; an error while reading never does.
    """
    if recorded is None and committed is None:
        if journal_is_empty:
            return None
        raise GateStoppedError(
            "The gate has stopped: the journal has records, but neither a committed offset nor a "
            "position record is left, so it cannot know which keys are held. Restore the status "
            "topic."
        )
    if recorded is None:
        raise GateStoppedError(
            "The gate has stopped: an offset is committed, but status has no position record, so "
            "it cannot know which keys are held. Restore the status topic."
        )
    if committed is not None and _essence(committed) != _essence(recorded):
        raise GateStoppedError(
            f"The gate has stopped: the committed offset says {_essence(committed)}, the position "
            f"record in status says {_essence(recorded)} (offset, control, step, owner). Something "
            "else has written to the group's offsets or to status. Set the committed offset back."
        )
    return recorded


def check_log(position: Position, log_start: int, log_end: int) -> None:
    """Refuse to skip events: what lies between the position and the log's start is lost."""
    if position.offset < log_start:
        raise GateStoppedError(
            f"The gate has stopped: events {position.offset} to {log_start - 1} were deleted "
            "before they were read. Restore them, or accept the loss, which will be journalled."
        )
    if position.offset > log_end:
        raise GateStoppedError(
            f"The gate has stopped: it is at offset {position.offset}, but the events end at "
            f"{log_end}. The topic seems to be another one than before."
        )


def is_current(committed: Position, state: Position, owner: str) -> bool:
    """Whether the state at hand is that of the last commit; if not, it must be read again.

    Raises FencedError if another process has become the owner. Also decides what came of a commit
    that ended in an error or a time-out: it took place if, and only if, the step is there.
    """
    if committed.owner != owner:
        raise FencedError(
            f"Another process ({committed.owner}) owns this flow's gate now. This one must end."
        )
    return _essence(committed) == _essence(state)


def range_to_take(position: int, start: int, end: int) -> tuple[int, int] | None:
    """The part of a planned range [start, end) that was not taken yet; None if all of it was."""
    if position < start:
        raise GateStoppedError(
            f"The gate has stopped: it is at offset {position}, and the planned range begins at "
            f"{start}. Events between them would be skipped. Remove the query's checkpoint."
        )
    return (position, end) if position < end else None


def _essence(position: Position) -> tuple[int, int, int, str]:
    return position.offset, position.control, position.step, position.owner
