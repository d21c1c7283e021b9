"""Events that cannot be read: their offsets, and why."""

import re
from dataclasses import dataclass
from typing import NamedTuple

from holdfast.errors import GateStoppedError

_COMMAND = "holdfast skip {} {} {} {}"
_SKIP_COMMAND = re.compile(r"holdfast skip \S+ (\d+) (\d+) (\d+)$")


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A batch of a partition that cannot be read: offsets `start` to `end` - 1."""

    partition: int
    start: int
    end: int
    why: str

    def __str__(self) -> str:
        offsets = f"offsets {self.start} to {self.end - 1}"
        if self.end == self.start + 1:
            offsets = f"offset {self.start}"
        return f"partition {self.partition}, {offsets} ({self.why})"


class Offsets(NamedTuple):
    """The events that a `skip` command must name."""

    partition: int
    first: int
    last: int


class UnreadableEventsError(GateStoppedError):
    """Events cannot be read, so the gate cannot decide about them: the flow stops."""

    def __init__(self, flow: str, unreadable: Unreadable) -> None:
        named = Offsets(unreadable.partition, unreadable.start, unreadable.end - 1)
        super().__init__(
            f"The flow has stopped: events cannot be read: {unreadable}. All events before them "
            "were taken. Restore them, or skip them, which will be journalled: "
            f"{_COMMAND.format(flow, *named)}"
        )


def offsets_to_skip(trouble: str) -> Offsets | None:
    """The unreadable events named in a gate's trouble message; None if it is about something else.
    (Pipeline reports carry the message as text only.)"""
    match = _SKIP_COMMAND.search(trouble)
    return Offsets(*map(int, match.groups())) if match else None
