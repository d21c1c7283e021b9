"""The state language: every state has a colour, a glyph and a word, never a colour alone.

Capitals say that something is effective; sentence case and a dashed edge, that it was asked for.
"""

from dataclasses import dataclass

from holdfast.flows.journal import Outcome
from holdfast.flows.runs import Run, RunState
from holdfast.flows.status import KeyState
from holdfast.views.flow_view import FlowSummary
from holdfast.views.health import HealthState
from holdfast.views.keys import KeyRow


@dataclass(frozen=True, slots=True)
class Look:
    """How a state is shown: the chip's style, its icon, its word."""

    style: str
    icon: str
    word: str
    dot: str = ""
    """The style of the dot in the side bar."""
    rank: int = 9
    """Lower is worse; what needs somebody comes first."""

    @property
    def urgent(self) -> bool:
        return self.style == "block"


_ACTIVE = Look("active", "active", "ACTIVE")
_HELD = Look("held", "pause", "HELD", dot="held")
_DRAINING = Look("drain", "drain", "DRAINING", dot="drain", rank=5)

KEY_LOOKS = {
    KeyState.ACTIVE: _ACTIVE,
    KeyState.HELD: _HELD,
    KeyState.DRAINING: _DRAINING,
}

_HEALTH_LOOKS = {
    HealthState.BLOCKED: Look("block", "block", "BLOCKED", dot="block", rank=0),
    HealthState.FAILED: Look("block", "block", "STOPPED", dot="block", rank=1),
    HealthState.SILENT: Look("block", "block", "SILENT", dot="block", rank=2),
    HealthState.STOPPED: Look("block", "block", "STOPPED", dot="block", rank=1),
    HealthState.WAITING: Look("block", "block", "WAITING", dot="block", rank=3),
    HealthState.UNKNOWN: Look("dlq", "wait", "NO PIPELINE", dot="idle", rank=4),
    HealthState.STARTING: Look("pend", "wait", "Starting", dot="idle", rank=6),
    HealthState.RUNNING: Look("active", "active", "HEALTHY"),
}

_PENDING_STYLES = {
    "hold": ("t-held pend", "Hold requested"),
    "release": ("t-drain pend", "Release requested"),
    "dead-letter": ("t-block pend", "Dead-letter requested"),
    "void": ("pend", "Void requested"),
}

_OUTCOME_LOOKS = {
    Outcome.HELD: _HELD,
    Outcome.UPDATED: Look("held", "pause", "UPDATED"),
    Outcome.RELEASED: Look("drain", "drain", "RELEASED"),
    Outcome.EXPIRED: Look("drain", "clock", "EXPIRED"),
    Outcome.DRAINED: Look("active", "active", "DRAINED"),
    Outcome.DEAD_LETTERED: Look("dlq", "dead", "DEAD-LETTERED"),
    Outcome.OVERFLOW_BEGUN: Look("block", "block", "AT ITS LIMIT"),
    Outcome.OVERFLOW_ENDED: Look("active", "active", "ROOM AGAIN"),
    Outcome.UNREADABLE: Look("block", "warn", "UNREADABLE"),
    Outcome.LOSS_ACCEPTED: Look("block", "warn", "LOSS ACCEPTED"),
}


_RUN_LOOKS = {
    RunState.REQUESTED: Look("pend", "wait", "Requested"),
    RunState.RUNNING: Look("drain", "drain", "RUNNING"),
    RunState.DONE: Look("active", "active", "DONE"),
    RunState.FAILED: Look("block", "block", "FAILED"),
    RunState.CANCELLED: Look("dlq", "x", "CANCELLED"),
}

_VERDICT_LOOKS = {
    True: Look("active", "active", "PASSED"),
    False: Look("block", "warn", "NOT PASSED", rank=0),
}


def run_look(run: Run) -> Look:
    """A run, whether it was told to end, and the verdict of one that has one."""
    if run.cancelling:
        return Look("t-block pend", "wait", "Cancelling")
    return _RUN_LOOKS[run.state] if run.passed is None else _VERDICT_LOOKS[run.passed]


def check_look(passed: bool | None) -> Look:
    """What came of a check of quality; None: it was never run."""
    if passed is None:
        return Look("pend", "wait", "Not run", rank=5)
    return (
        Look("active", "active", "PASSED") if passed else Look("block", "block", "FAILED", rank=0)
    )


def flow_look(summary: FlowSummary) -> Look:
    """A flow as a whole: its pipeline's health, and else whether keys drain."""
    state = summary.health.state
    if state is HealthState.RUNNING and summary.draining_keys:
        return _DRAINING
    return _HEALTH_LOOKS[state]


def health_look(state: HealthState) -> Look:
    """One part of a pipeline."""
    return _HEALTH_LOOKS[state]


def outcome_look(outcome: Outcome, command: str = "") -> Look:
    """What came of a command. What changed nothing is grey."""
    if outcome is Outcome.UPDATED and command == "release":
        return Look("drain", "drain", "UPDATED")
    word = outcome.value.replace("-", " ").upper()
    return _OUTCOME_LOOKS.get(outcome, Look("dlq", "active", word))


def pending_look(command: str, state: KeyState = KeyState.ACTIVE) -> Look:
    """A command that was asked for and is not effective yet."""
    style, word = _PENDING_STYLES.get(command, ("pend", "Requested"))
    if command == "hold" and state is KeyState.HELD:
        word = "Update requested"
    return Look(style, "wait", word)


def key_looks(row: KeyRow) -> tuple[Look, ...]:
    """What a key is, then what it was asked to become. One that is merely asked for is shown so
    alone."""
    asked = tuple(pending_look(command, row.state) for command in row.pending[-1:])
    if row.state is KeyState.ACTIVE and asked:
        return asked
    return (KEY_LOOKS[row.state], *asked)
