"""The result of an audit, in a form that can be printed, stored and sent."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any


class Fault(StrEnum):
    """A kind of fault. The value is its name in reports."""

    LOST = "lost"
    DOUBLED = "doubled"
    STRAY = "stray"
    MISPLACED = "misplaced"
    ALTERED = "altered"
    HEADERS_ALTERED = "headers-altered"
    TIME_ALTERED = "time-altered"
    SWAPPED = "swapped"
    OVERTAKEN = "overtaken"
    HELD_SWAPPED = "held-swapped"
    LET_THROUGH = "let-through"
    TOO_EARLY = "too-early"
    CUT_SHORT = "hold-cut-short"
    HELD_UNASKED = "held-unasked"
    TAKEN_WHILE_PAUSED = "taken-while-paused"
    STUCK = "stuck"
    DEAD_UNASKED = "dead-lettered-unasked"
    NOT_OVER = "dead-lettered-without-overflow"
    NOT_INVALID = "dead-lettered-though-valid"
    NOT_TOO_LARGE = "dead-lettered-though-it-fits"
    UNKNOWN_REASON = "dead-lettered-for-unknown-reason"
    CAME_OUT_DEAD = "came-out-though-dead-lettered"
    INVALID_PASSED = "invalid-let-through"
    HELD_OVER = "held-though-over"
    RAW_MISSING = "raw-missing"
    RAW_DOUBLED = "raw-doubled"
    RAW_STRAY = "raw-stray"
    UNANSWERED = "unanswered"
    ANSWERED_TWICE = "answered-twice"
    WRONG_ANSWER = "wrong-answer"
    ANSWERS_NOTHING = "answers-nothing"
    EXPIRED_EARLY = "expired-early"
    CONTROL_MISSING = "control-missing"
    UNREADABLE = "unreadable"
    IMPOSSIBLE = "impossible"
    JOURNAL_MISSING = "journal-missing"
    STATUS_DIFFERS = "status-differs"
    STATUS_MISSING = "status-missing"
    DAMAGED = "damaged"
    SEAL_BROKEN = "seal-broken"


MEANING: Mapping[Fault, str] = {
    Fault.LOST: "an event that is neither in processed nor in held nor in the dead letters",
    Fault.DOUBLED: "an event that is in more than one output, or twice in one",
    Fault.STRAY: "a record without a source, or with a source that has no event",
    Fault.MISPLACED: "a record in another partition than that of its key or of its source",
    Fault.ALTERED: "a value that differs from that of the event",
    Fault.HEADERS_ALTERED: "headers that differ from those of the event",
    Fault.TIME_ALTERED: "a timestamp that differs from that of the event",
    Fault.SWAPPED: "an event that was processed before an earlier one of its key",
    Fault.OVERTAKEN: "an event that was processed while an earlier one of its key is still held",
    Fault.HELD_SWAPPED: "a row of held that comes after a row of a later event",
    Fault.LET_THROUGH: "an event of a held key, or of one with a held prefix, that passed without "
    "being held",
    Fault.TOO_EARLY: "a held event that was processed before its release",
    Fault.CUT_SHORT: "a key that was released while a hold of it stood, or a hold that ended by a "
    "release that does not name it",
    Fault.HELD_UNASKED: "an event that was held although its key was not",
    Fault.TAKEN_WHILE_PAUSED: "events that were taken while the flow was paused",
    Fault.STUCK: "an event that is still held although it was drained according to the journal",
    Fault.DEAD_UNASKED: "a dead letter 'dead-lettered' without a command",
    Fault.NOT_OVER: "a dead letter 'overflow' where the journal has no overflow of a held key, or "
    "another policy",
    Fault.NOT_INVALID: "a dead letter 'invalid' whose value the schema of that time accepts",
    Fault.NOT_TOO_LARGE: "a dead letter 'too-large' that fits into every topic",
    Fault.UNKNOWN_REASON: "a dead letter with a reason that the gate does not use",
    Fault.CAME_OUT_DEAD: "an event that was processed although a command dead-lettered it",
    Fault.INVALID_PASSED: "an event that was held or processed although the schema refuses it",
    Fault.HELD_OVER: "an event that was held although its key was over its limit and the policy is "
    "dead-letter",
    Fault.RAW_MISSING: "an event that is not in the raw zone",
    Fault.RAW_DOUBLED: "an event that is in the raw zone more than once",
    Fault.RAW_STRAY: "a row of the raw zone without an event",
    Fault.UNANSWERED: "a command that the journal does not answer",
    Fault.ANSWERED_TWICE: "a command that the journal answers more than once",
    Fault.WRONG_ANSWER: "an answer that does not fit the command",
    Fault.ANSWERS_NOTHING: "a journal record that names a command which does not exist",
    Fault.EXPIRED_EARLY: "a hold that expired early, by the gate's clock or the broker's",
    Fault.CONTROL_MISSING: "commands that the gate has taken and that the control log lacks",
    Fault.UNREADABLE: "a journal record that cannot be read",
    Fault.IMPOSSIBLE: "an outcome, a cut or a step that cannot follow the one before it",
    Fault.JOURNAL_MISSING: "a partition with steps of the gate whose journal lacks its beginning",
    Fault.STATUS_DIFFERS: "a key whose status does not agree with journal and held",
    Fault.STATUS_MISSING: "a partition with steps of the gate whose status lacks the position",
    Fault.DAMAGED: "a batch of a log that cannot be read, so that its records are unknown",
    Fault.SEAL_BROKEN: "a seal that was changed, that does not fit the one before it, or whose "
    "records are not those that were sealed",
}

RAW_ZONE = "raw zone complete"
STATUS = "status agrees with the journal"
COMMANDS = "every command answered"
JOURNAL = "journal consistent"
ORDER = "order of each key"
HOLDS = "holds honoured"
DEAD_LETTERS = "dead letters have a cause"
READABLE = "every log can be read"
SEALS = "seals unbroken"

CHECKS: Mapping[str, tuple[Fault, ...]] = {
    "every event in exactly one place": (Fault.LOST, Fault.DOUBLED, Fault.STRAY, Fault.MISPLACED),
    "events unchanged": (Fault.ALTERED, Fault.HEADERS_ALTERED, Fault.TIME_ALTERED),
    ORDER: (Fault.SWAPPED, Fault.OVERTAKEN, Fault.HELD_SWAPPED),
    HOLDS: (
        Fault.LET_THROUGH, Fault.TOO_EARLY, Fault.CUT_SHORT, Fault.HELD_UNASKED, Fault.STUCK,
        Fault.TAKEN_WHILE_PAUSED,
    ),
    DEAD_LETTERS: (
        Fault.DEAD_UNASKED, Fault.NOT_OVER, Fault.NOT_INVALID, Fault.NOT_TOO_LARGE,
        Fault.UNKNOWN_REASON, Fault.CAME_OUT_DEAD, Fault.INVALID_PASSED, Fault.HELD_OVER,
    ),
    RAW_ZONE: (Fault.RAW_MISSING, Fault.RAW_DOUBLED, Fault.RAW_STRAY),
    COMMANDS: (
        Fault.UNANSWERED, Fault.ANSWERED_TWICE, Fault.WRONG_ANSWER, Fault.ANSWERS_NOTHING,
        Fault.EXPIRED_EARLY, Fault.CONTROL_MISSING,
    ),
    JOURNAL: (Fault.UNREADABLE, Fault.IMPOSSIBLE, Fault.JOURNAL_MISSING),
    STATUS: (Fault.STATUS_DIFFERS, Fault.STATUS_MISSING),
    READABLE: (Fault.DAMAGED,),
    SEALS: (Fault.SEAL_BROKEN,),
}  # fmt: skip
"""The checks, each with the faults that violate it."""


class Verdict(StrEnum):
    """The overall result of an audit."""

    CLEAN = "clean"
    NOT_CLEAN = "not clean"
    """At least one fault was found."""
    INCOMPLETE = "incomplete"
    """No fault was found, but a log or the raw zone was empty where events exist."""
    NOTHING_TO_CHECK = "nothing to check"
    """There are no events in the requested range."""


@dataclass(frozen=True, slots=True)
class Example:
    """The location of one fault: a source coordinate, except for faults of commands and answers."""

    log: str
    """The log, such as `events` or `journal`; `raw zone`, or `record without source`."""
    partition: int
    offset: int
    detail: str = ""

    def __str__(self) -> str:
        location = f"{self.log}[{self.partition}]@{self.offset}"
        return f"{location} ({self.detail})" if self.detail else location


@dataclass(frozen=True, slots=True)
class Finding:
    """One kind of fault: how often it was found, and the first locations."""

    fault: Fault
    count: int
    examples: tuple[Example, ...]


@dataclass(frozen=True, slots=True)
class Check:
    """One check: the number of examined items, and the faults that were found."""

    name: str
    examined: int
    found: tuple[Finding, ...] = ()
    not_looked_at: str = ""
    """Why the check did not run."""

    @property
    def violations(self) -> int:
        return sum(found.count for found in self.found)

    @property
    def verdict(self) -> str:
        """`clean`, `VIOLATED`, `nothing to check`, or `not checked: ` and why."""
        if self.violations:
            return "VIOLATED"
        if self.not_looked_at:
            return f"not checked: {self.not_looked_at}"
        return "clean" if self.examined else "nothing to check"


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    """The result of an audit of one flow."""

    flow: str
    events: int
    processed: int
    held: int
    """Events that are held now."""
    dead: int
    landed: int
    commands: int
    checks: tuple[Check, ...]
    missing: tuple[str, ...] = ()
    """Logs, or the raw zone, that were empty where events exist."""
    not_checked: tuple[str, ...] = ()
    """What this audit did not check, with the reason."""
    ranges: Mapping[int, tuple[int, int]]
    """The source offsets that were accounted for, by partition: first and end (exclusive)."""
    skipped: tuple[tuple[int, int, int], ...] = ()
    """Unreadable offsets that a command has skipped: partition, first and end (exclusive). Their
    events are lost, which is explained."""
    guard: bool = False
    """The flow is a guard: `processed` counts the events that its handler has finished."""
    not_taken: int = 0
    """Of a guard: events that it has not taken yet. `events` does not count them."""
    given_up: int = 0
    """Of a guard: dead letters that its handler or a person has skipped."""
    incremental: bool
    """True if the audit continued from a checkpoint; the counts then include earlier audits."""
    sealed: int = 0
    """The number of the seal of this audit; 0 if it is not sealed."""
    seal: str = ""
    """The digest of that seal."""
    seconds: float

    @property
    def verdict(self) -> Verdict:
        if any(check.found for check in self.checks):
            return Verdict.NOT_CLEAN
        if self.missing:
            return Verdict.INCOMPLETE
        return Verdict.CLEAN if self.events else Verdict.NOTHING_TO_CHECK

    @property
    def clean(self) -> bool:
        return self.verdict is Verdict.CLEAN

    def document(self) -> dict[str, Any]:
        """All fields, as JSON values."""
        document = {**asdict(self), "clean": self.clean, "verdict": self.verdict.value}
        document["ranges"] = {str(p): list(bounds) for p, bounds in self.ranges.items()}
        for check, listed in zip(self.checks, document["checks"], strict=True):
            listed |= {"violations": check.violations, "verdict": check.verdict}
        return document
