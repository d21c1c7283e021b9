"""Styles of states: every state has a colour, an icon and a word, never a colour alone.

Capitals mean effective; sentence case and a dashed edge mean requested.
"""

from dataclasses import dataclass

from holdfast.flows.journal import Outcome
from holdfast.flows.runs import Run, RunState
from holdfast.flows.status import KeyState
from holdfast.views.flow_view import FlowSummary
from holdfast.views.health import HealthState
from holdfast.views.keys import KeyRow


@dataclass(frozen=True, slots=True)
class StateStyle:
    """The style of a state: CSS class, icon, word."""

    css_class: str
    icon: str
    word: str
    dot: str = ""
    """The style of the dot in the side bar."""
    rank: int = 9
    """Lower is worse; urgent states come first."""

    @property
    def urgent(self) -> bool:
        return self.css_class == "block"


_ACTIVE = StateStyle("active", "active", "ACTIVE")
_HELD = StateStyle("held", "pause", "HELD", dot="held")
_DRAINING = StateStyle("drain", "drain", "DRAINING", dot="drain", rank=5)

KEY_STYLES = {
    KeyState.ACTIVE: _ACTIVE,
    KeyState.HELD: _HELD,
    KeyState.DRAINING: _DRAINING,
}

_GUARD = StateStyle("active", "active", "GUARD")
_FAILING = StateStyle("held", "pause", "FAILING", dot="held", rank=5)
_CIRCUIT_OPEN = StateStyle("block", "block", "CIRCUIT OPEN", dot="block", rank=1)

_HEALTH_STYLES = {
    HealthState.BLOCKED: StateStyle("block", "block", "BLOCKED", dot="block", rank=0),
    HealthState.PAUSED: StateStyle("held", "pause", "PAUSED", dot="held", rank=3),
    HealthState.FAILED: StateStyle("block", "block", "STOPPED", dot="block", rank=1),
    HealthState.SILENT: StateStyle("block", "block", "SILENT", dot="block", rank=2),
    HealthState.STOPPED: StateStyle("block", "block", "STOPPED", dot="block", rank=1),
    HealthState.WAITING: StateStyle("block", "block", "WAITING", dot="block", rank=3),
    HealthState.UNKNOWN: StateStyle("dlq", "wait", "NO PIPELINE", dot="idle", rank=4),
    HealthState.STARTING: StateStyle("pend", "wait", "Starting", dot="idle", rank=6),
    HealthState.RUNNING: StateStyle("active", "active", "HEALTHY"),
}

_PENDING_STYLES = {
    "hold": ("t-held pend", "Hold requested"),
    "release": ("t-drain pend", "Release requested"),
    "dead-letter": ("t-block pend", "Dead-letter requested"),
    "hold-prefix": ("t-held pend", "Hold requested"),
    "release-prefix": ("t-drain pend", "Release requested"),
    "pause": ("t-held pend", "Pause requested"),
    "resume": ("t-drain pend", "Resume requested"),
    "void": ("pend", "Void requested"),
    "skip": ("pend", "Skip requested"),
}

_OUTCOME_STYLES = {
    Outcome.HELD: _HELD,
    Outcome.ADDED: StateStyle("held", "pause", "HELD TOO"),
    Outcome.UPDATED: StateStyle("held", "pause", "UPDATED"),
    Outcome.HOLD_RELEASED: StateStyle("held", "pause", "STILL HELD"),
    Outcome.HOLD_EXPIRED: StateStyle("held", "clock", "STILL HELD"),
    Outcome.REFUSED: StateStyle("block", "warn", "REFUSED"),
    Outcome.RELEASED: StateStyle("drain", "drain", "RELEASED"),
    Outcome.PAUSED: StateStyle("held", "pause", "PAUSED"),
    Outcome.RESUMED: StateStyle("active", "active", "RESUMED"),
    Outcome.EXPIRED: StateStyle("drain", "clock", "EXPIRED"),
    Outcome.DRAINED: StateStyle("active", "active", "DRAINED"),
    Outcome.DEAD_LETTERED: StateStyle("dlq", "dead", "DEAD-LETTERED"),
    Outcome.OVERFLOW_BEGUN: StateStyle("block", "block", "AT ITS LIMIT"),
    Outcome.OVERFLOW_ENDED: StateStyle("active", "active", "ROOM AGAIN"),
    Outcome.UNREADABLE: StateStyle("block", "warn", "UNREADABLE"),
    Outcome.LOSS_ACCEPTED: StateStyle("block", "warn", "LOSS ACCEPTED"),
    Outcome.OVERSIZED: StateStyle("dlq", "dead", "TOO LARGE"),
    Outcome.SKIPPED: StateStyle("block", "warn", "SKIPPED"),
    Outcome.CIRCUIT_OPENED: _CIRCUIT_OPEN,
    Outcome.CIRCUIT_CLOSED: StateStyle("active", "active", "CIRCUIT CLOSED"),
}


_RUN_STYLES = {
    RunState.REQUESTED: StateStyle("pend", "wait", "Requested"),
    RunState.RUNNING: StateStyle("drain", "drain", "RUNNING"),
    RunState.DONE: StateStyle("active", "active", "DONE"),
    RunState.FAILED: StateStyle("block", "block", "FAILED"),
    RunState.CANCELLED: StateStyle("dlq", "x", "CANCELLED"),
}

_VERDICT_STYLES = {
    True: StateStyle("active", "active", "PASSED"),
    False: StateStyle("block", "warn", "NOT PASSED", rank=0),
}


def run_style(run: Run) -> StateStyle:
    """The style of a run: its state, its cancellation, or its verdict."""
    if run.cancelling:
        return StateStyle("t-block pend", "wait", "Cancelling")
    if run.verdict in ("incomplete", "nothing to check"):
        return StateStyle("block", "warn", run.verdict.upper(), rank=0)
    return _RUN_STYLES[run.state] if run.passed is None else _VERDICT_STYLES[run.passed]


def check_style(passed: bool | None) -> StateStyle:
    """The style of a quality check; None: it was never run."""
    if passed is None:
        return StateStyle("pend", "wait", "Not run", rank=5)
    return (
        StateStyle("active", "active", "PASSED")
        if passed
        else StateStyle("block", "block", "FAILED", rank=0)
    )


def delivery_style(delivered: bool | None) -> StateStyle:
    """The style of a hook's delivery; None: nothing was sent yet."""
    if delivered is None:
        return StateStyle("pend", "wait", "Nothing sent")
    return (
        StateStyle("active", "active", "DELIVERED")
        if delivered
        else StateStyle("block", "block", "FAILED", rank=0)
    )


def flow_style(summary: FlowSummary) -> StateStyle:
    """The style of a flow: its pipeline's health, or DRAINING while keys drain."""
    state = summary.health.state
    if summary.definition.is_guard:
        return _guard_style(summary)
    if state is HealthState.RUNNING and summary.draining_keys:
        return _DRAINING
    return _HEALTH_STYLES[state]


def _guard_style(summary: FlowSummary) -> StateStyle:
    if summary.circuit_open:
        return _CIRCUIT_OPEN
    return _FAILING if summary.failing_keys else _GUARD


def health_style(state: HealthState) -> StateStyle:
    """One part of a pipeline."""
    return _HEALTH_STYLES[state]


def outcome_style(outcome: Outcome, command: str = "") -> StateStyle:
    """The style of an outcome. An outcome without effect is grey."""
    if outcome is Outcome.UPDATED and command == "release":
        return StateStyle("drain", "drain", "UPDATED")
    word = outcome.value.replace("-", " ").upper()
    return _OUTCOME_STYLES.get(outcome, StateStyle("dlq", "active", word))


def pending_style(command: str, state: KeyState = KeyState.ACTIVE) -> StateStyle:
    """The style of a command that is not effective yet."""
    style, word = _PENDING_STYLES.get(command, ("pend", "Requested"))
    if command == "hold" and state is KeyState.HELD:
        word = "Update requested"
    return StateStyle(style, "wait", word)


def key_styles(row: KeyRow) -> tuple[StateStyle, ...]:
    """The style of a key's state, and of a pending command. For an ACTIVE key only the pending
    command is shown."""
    asked = tuple(pending_style(command, row.state) for command in row.pending[-1:])
    if row.state is KeyState.ACTIVE and asked:
        return asked
    return (KEY_STYLES[row.state], *asked)
