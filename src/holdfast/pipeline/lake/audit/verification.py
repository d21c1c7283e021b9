"""What the audit found, in a form that can be printed, stored and sent."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any


class Fault(StrEnum):
    """What can be wrong. The value is its name in reports."""

    LOST = "lost"
    DOUBLED = "doubled"
    STRAY = "stray"
    ALTERED = "altered"
    SWAPPED = "swapped"
    OVERTAKEN = "overtaken"
    LET_THROUGH = "let-through"
    TOO_EARLY = "too-early"
    DEAD_UNASKED = "dead-lettered-unasked"
    HELD_UNASKED = "held-unasked"
    STUCK = "stuck"
    RAW_MISSING = "raw-missing"
    RAW_DOUBLED = "raw-doubled"
    RAW_STRAY = "raw-stray"
    UNANSWERED = "unanswered"
    ANSWERED_TWICE = "answered-twice"
    WRONG_ANSWER = "wrong-answer"
    ANSWERS_NOTHING = "answers-nothing"
    EXPIRED_EARLY = "expired-early"
    UNREADABLE = "unreadable"
    IMPOSSIBLE = "impossible"
    STATUS_DIFFERS = "status-differs"


MEANING: Mapping[Fault, str] = {
    Fault.LOST: "an event that is nowhere: not in processed, not in held, not among dead letters",
    Fault.DOUBLED: "an event that is in more than one place, or twice in one",
    Fault.STRAY: "a record that says no source, or one where no event is",
    Fault.ALTERED: "key or value are not those of the event",
    Fault.SWAPPED: "an event that came out before an earlier one of its key",
    Fault.OVERTAKEN: "an event that came out while an earlier one of its key is still held",
    Fault.LET_THROUGH: "an event of a held key that passed without being held",
    Fault.TOO_EARLY: "a held event that came out before anybody had released it",
    Fault.DEAD_UNASKED: "a held event among the dead letters that nobody has sent there",
    Fault.HELD_UNASKED: "an event that was held although its key was not",
    Fault.STUCK: "an event that is still held although the journal says that it came out",
    Fault.RAW_MISSING: "an event that is not in the raw zone",
    Fault.RAW_DOUBLED: "an event that is in the raw zone more than once",
    Fault.RAW_STRAY: "a row of the raw zone of which there is no event",
    Fault.UNANSWERED: "a command that the journal does not answer",
    Fault.ANSWERED_TWICE: "a command that the journal answers more than once",
    Fault.WRONG_ANSWER: "an answer that does not fit the command",
    Fault.ANSWERS_NOTHING: "a journal record that names a command which was not given",
    Fault.EXPIRED_EARLY: "a hold that expired before its time",
    Fault.UNREADABLE: "a journal record that cannot be read",
    Fault.IMPOSSIBLE: "an outcome that cannot follow the one before it",
    Fault.STATUS_DIFFERS: "a key whose status is not what the journal comes to",
}

CHECKS: Mapping[str, tuple[Fault, ...]] = {
    "every event in exactly one place": (Fault.LOST, Fault.DOUBLED, Fault.STRAY, Fault.ALTERED),
    "order of each key": (Fault.SWAPPED, Fault.OVERTAKEN),
    "holds honoured": (
        Fault.LET_THROUGH, Fault.TOO_EARLY, Fault.DEAD_UNASKED, Fault.HELD_UNASKED, Fault.STUCK,
    ),
    "raw zone complete": (Fault.RAW_MISSING, Fault.RAW_DOUBLED, Fault.RAW_STRAY),
    "every command answered": (
        Fault.UNANSWERED, Fault.ANSWERED_TWICE, Fault.WRONG_ANSWER, Fault.ANSWERS_NOTHING,
        Fault.EXPIRED_EARLY, Fault.UNREADABLE, Fault.IMPOSSIBLE,
    ),
    "status agrees with the journal": (Fault.STATUS_DIFFERS,),
}  # fmt: skip
"""The questions that are asked, each with what would speak against it."""

RAW_ZONE = "raw zone complete"
STATUS = "status agrees with the journal"


@dataclass(frozen=True, slots=True)
class Example:
    """Where one fault was found: a source coordinate, but for faults of commands and answers."""

    log: str
    """`events`, `control`, `journal`, `status`, or the topic of a record without a source."""
    partition: int
    offset: int
    detail: str = ""

    def __str__(self) -> str:
        place = f"{self.log}[{self.partition}]@{self.offset}"
        return f"{place} ({self.detail})" if self.detail else place


@dataclass(frozen=True, slots=True)
class Found:
    """One kind of fault: how often, and the first places."""

    fault: Fault
    count: int
    examples: tuple[Example, ...]


@dataclass(frozen=True, slots=True)
class Check:
    """One question, how many things it was asked of, and what speaks against it."""

    name: str
    examined: int
    found: tuple[Found, ...] = ()
    not_looked_at: str = ""
    """Why the question was not asked."""

    @property
    def violations(self) -> int:
        return sum(found.count for found in self.found)


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    """The verdict on one flow."""

    flow: str
    clean: bool
    events: int
    processed: int
    held: int
    """Of them: held now."""
    dead: int
    landed: int
    commands: int
    checks: tuple[Check, ...]
    ranges: Mapping[int, tuple[int, int]]
    """The source offsets that were accounted for, by partition: first, and the one after the
    last."""
    incremental: bool
    """Whether it went on from what was verified before, and so speaks of all up to `ranges`."""
    seconds: float

    def document(self) -> dict[str, Any]:
        """All of it, ready for JSON."""
        document = asdict(self)
        document["ranges"] = {str(p): list(bounds) for p, bounds in self.ranges.items()}
        for check, listed in zip(self.checks, document["checks"], strict=True):
            listed["violations"] = check.violations
        return document
