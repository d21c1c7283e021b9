"""The result of a run, for people and for machines."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tests.chaos.system.checker import count_sent_again
from tests.chaos.system.findings import Breach, Findings
from tests.chaos.system.history import History, State
from tests.chaos.system.outcome import Outcome

_LOST = (Breach.LOST_WRITE, Breach.LOST_EVENT)
_REORDERED = (Breach.REORDERED, Breach.OVERTAKEN)
_NAMED = {*_LOST, Breach.DOUBLED, *_REORDERED}


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """The figures, and what was not as promised."""

    seed: int
    seconds: float
    sent: int
    acknowledged: int
    unknown: int
    taken_back: int
    sent_again: int
    """Events that their producer has written more than once, because it gave up others."""
    commands: int
    processed: int
    dead: int
    handled: int
    """By the worker downstream; again after its kills."""
    faults: Counter[str]
    skipped: Counter[str]
    """Faults that had nothing to hit when they were due."""
    findings: Findings
    verify: dict[str, str]
    """Findings of the audit, by flow."""

    @property
    def as_promised(self) -> bool:
        return not self.findings and not any(self.verify.values())

    @property
    def lost(self) -> int:
        return sum(self.findings.counts[breach] for breach in _LOST)

    @property
    def doubled(self) -> int:
        return self.findings.counts[Breach.DOUBLED]

    @property
    def reordered(self) -> int:
        return sum(self.findings.counts[breach] for breach in _REORDERED)

    def document(self) -> dict[str, Any]:
        """Ready for JSON."""
        return {
            "seed": self.seed,
            "seconds": round(self.seconds),
            "sent": self.sent,
            "acknowledged": self.acknowledged,
            "unknown": self.unknown,
            "taken_back": self.taken_back,
            "sent_again": self.sent_again,
            "commands": self.commands,
            "processed": self.processed,
            "dead": self.dead,
            "handled": self.handled,
            "faults": self.faults.total(),
            "faults_by_kind": dict(sorted(self.faults.items())),
            "skipped": dict(sorted(self.skipped.items())),
            "lost": self.lost,
            "doubled": self.doubled,
            "reordered": self.reordered,
            "other": {
                str(breach): count
                for breach, count in sorted(self.findings.counts.items())
                if breach not in _NAMED
            },
            "verify": {flow: "NOT clean" if wrong else "clean" for flow, wrong in self._verified},
        }

    @property
    def _verified(self) -> list[tuple[str, str]]:
        return sorted(self.verify.items())

    def table(self) -> list[str]:
        """For people."""
        rows = [
            ("events sent", self.sent),
            ("  acknowledged", self.acknowledged),
            ("  outcome unknown", self.unknown),
            ("  taken back", self.taken_back),
            ("  sent again by their producer", self.sent_again),
            ("commands", self.commands),
            ("processed", self.processed),
            ("dead letters", self.dead),
            ("handled downstream", self.handled),
            ("faults", self.faults.total()),
            *((f"  {kind}", count) for kind, count in self.faults.most_common()),
            ("lost", self.lost),
            ("doubled", self.doubled),
            ("reordered", self.reordered),
            ("other breaches", self.findings.counts.total() - self._named()),
        ]
        lines = [f"{name:<36}{count:>12,}" for name, count in rows]
        for flow, wrong in self._verified:
            lines.append(f"{'verify ' + flow:<36}{'NOT clean' if wrong else 'clean':>12}")
        return lines

    def _named(self) -> int:
        return self.lost + self.doubled + self.reordered


def make_report(
    history: History,
    outcomes: Sequence[Outcome],
    skipped: Counter[str],
    findings: Findings,
    verified: dict[str, str],
    seconds: float,
) -> Report:
    states = Counter(send.state for send in history.sends)
    return Report(
        seed=history.seed,
        seconds=seconds,
        sent=len(history.sends),
        acknowledged=states[State.OK],
        unknown=states[State.INFO],
        taken_back=states[State.ABORTED],
        sent_again=sum(map(count_sent_again, outcomes)),
        commands=len(history.commands),
        processed=sum(len(outcome.processed) for outcome in outcomes),
        dead=sum(len(outcome.dead) for outcome in outcomes),
        handled=sum(" handles " in line for line in history.worker),
        faults=Counter(fault.kind for fault in history.faults),
        skipped=skipped,
        findings=findings,
        verify=verified,
    )
