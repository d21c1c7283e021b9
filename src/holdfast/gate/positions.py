"""Compare, then act: checks if a partition may take a step, and from which offset."""

from holdfast.errors import FencedError, GateStoppedError
from holdfast.flows.status import Position


def starting_position(
    committed: Position | None, recorded: Position | None, *, journal_is_empty: bool
) -> Position | None:
    """The position from which a partition continues, from its committed offset and the position
    record in status.

    If neither exists and the journal is empty, this is the first start: returns None. Treat a
    committed offset without readable metadata as missing, but never an error while reading it.
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
            f"The gate has stopped: the committed position is {_essence(committed)}, but the "
            f"position record in status is {_essence(recorded)} (offset, control, step, owner). "
            "Another program has changed the group's offsets or the status topic. Set the "
            "committed offset back."
        )
    return recorded


def check_log(position: Position, log_start: int, log_end: int) -> None:
    """Raises GateStoppedError if events between the position and the log's start are lost, or if
    the position is beyond the log's end."""
    if position.offset < log_start:
        raise GateStoppedError(
            f"The gate has stopped: events {position.offset} to {log_start - 1} were deleted "
            "before they were read. Restore them, or accept the loss, which will be journalled."
        )
    if position.offset > log_end:
        raise GateStoppedError(
            f"The gate has stopped: it is at offset {position.offset}, but the events end at "
            f"{log_end}. The broker has lost events that were taken. Restore them. If you have "
            "accepted their loss: the gate continues when new events have reached its offset, and "
            "does not take those below it."
        )


def cut_back(topic: str, partition: int, position: Position, end: int) -> GateStoppedError:
    """The error for events that the gate has taken and that a new leader does not have: its log
    ended at `end` in the old epoch."""
    return GateStoppedError(
        f"The gate has stopped: a new leader that lacked some events has cut partition "
        f"{partition} of {topic} back to offset {end}. Events {end} to {position.offset - 1}, "
        "which the gate has taken, are gone, and other events may be at their offsets. Restore "
        "them, or accept the loss, which will be journalled: the gate then does not take events "
        f"below offset {position.offset}."
    )


def is_current(committed: Position, state: Position, owner: str) -> bool:
    """Returns True if the state is that of the last commit; if not, it must be read again.

    Raises FencedError if another process has become the owner. This also decides if a commit that
    ended in an error or a time-out took place: it did if, and only if, its step is committed.
    """
    if committed.owner != owner:
        raise FencedError(
            f"Another process ({committed.owner}) owns this flow's gate now. This one must exit."
        )
    return _essence(committed) == _essence(state)


def range_to_take(position: int, start: int, end: int) -> tuple[int, int] | None:
    """The part of a planned range [start, end) that was not taken yet; None if all was taken."""
    if position < start:
        raise GateStoppedError(
            f"The gate has stopped: it is at offset {position}, and the planned range begins at "
            f"{start}. Events between them would be skipped."
        )
    return (position, end) if position < end else None


def _essence(position: Position) -> tuple[int, int, int, str]:
    return position.offset, position.control, position.step, position.owner
