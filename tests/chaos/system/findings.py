"""Findings of a checker, by kind, with a few examples of each."""

from collections import Counter, defaultdict
from enum import StrEnum

EXAMPLES = 10


class Breach(StrEnum):
    """A promise that was not kept. The value is its name in reports."""

    LOST_WRITE = "lost write"
    """Acknowledged, but not in events, or not where it was said to be."""
    LOST_EVENT = "lost event"
    """In events, but neither in processed nor among the dead letters (G1)."""
    DOUBLED = "doubled"
    """Twice in events, or in more than one place (G1)."""
    REORDERED = "reordered"
    """Sent or come out after a later event of its key (G2)."""
    OVERTAKEN = "overtaken while held"
    """Reordered, and sent while its key was on hold (G4)."""
    PHANTOM = "phantom"
    """Seen, but never sent, taken back, or not what was sent."""
    EARLY = "out too early"
    """Sent after an acknowledged hold, and out before any release or expiry (G3)."""
    WRONGLY_DEAD = "wrongly dead"
    """Among the dead letters although nobody sent it there."""
    INVALID_PASSED = "invalid passed"
    OVERSIZED_PASSED = "oversized passed"
    """In processed, though it is larger than that takes."""
    WENT_BACK = "reader went back"
    """A reader was given an offset at or before the one that it had."""
    SKIPPED = "reader skipped"
    """A reader was not given a record that lies between two that it had."""
    COMMIT_BACK = "commit went back"
    """An ownership began before an offset that was acknowledged as committed."""
    UNHANDLED = "committed unhandled"
    """Committed, or left behind in the end, but not handled by the worker."""
    LOST_COMMAND = "lost command"
    """Acknowledged, but not on the control log where it was said to be."""
    UNANSWERED = "command unanswered"
    ANSWERED_TWICE = "command answered twice"
    """In one partition, or acted twice under one id (G5)."""
    MISBEHAVED = "misbehaved"
    """A process did what it must not, such as end as replaced when nobody had replaced it."""


class Findings:
    """How often each breach was found, and the first few in words."""

    def __init__(self) -> None:
        self.counts: Counter[Breach] = Counter()
        self.examples: dict[Breach, list[str]] = defaultdict(list)

    def add(self, breach: Breach, what: str) -> None:
        self.counts[breach] += 1
        if len(self.examples[breach]) < EXAMPLES:
            self.examples[breach].append(what)

    def lines(self) -> list[str]:
        return [
            line
            for breach, count in sorted(self.counts.items())
            for line in (f"{breach}: {count}", *(f"  {e}" for e in self.examples[breach]))
        ]

    def __bool__(self) -> bool:
        return bool(self.counts)
