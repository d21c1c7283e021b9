"""The gate: decides which events pass, which are held and which leave held. Pure logic: it imports
neither Kafka nor Spark, and takes the time as an argument.

How a caller runs one step of one partition, under the flow's lock:

    control.advance(h)                              # the control log, read through h - 1
    now = clock.read(wall, monotonic)
    holds.advance(control, h, now.wall, states)
    over = flow_is_over(states, settings.limits)
    context = StepContext(owner, partitions, holds, now, settings, over)
    commands = control.between(state.position.control, holds.through)
    step = Step(state, context, commands, held_end=..., end=e)
    verdicts = step.decide(keys, offsets, sizes, timestamps)     # only events of KeysOfInterest
    result = step.finish()
    ...                                             # write it all in one transaction, commit
    state.apply(result.changes)                     # only now

The keeper drains in steps without events: `backlog.read(state)` returns what to read from held,
which the keeper reads without the lock; `step.drain(backlog)`, under the lock, returns the rows
that leave held.

| module | content |
|---|---|
| `control` | the control log: duplicates, unreadable records, the partition that answers |
| `holds` | the keys that are held in the whole flow, and the keys whose events need a decision |
| `clock` | the time: jumps of the wall clock are detected and end no hold early |
| `settings` | limits, policy, schema; when a flow is blocked |
| `transitions` | how one key's entry changes |
| `scopes` | holds of prefixes, and pauses of the whole flow |
| `state` | one partition's state, how a committed step changes it, and how it is loaded at start |
| `change_history` | the last changes of a state or of the holds, for copies in other processes |
| `draft` | a step's working copy of the state |
| `answers` | outcomes of commands, expiries and limits |
| `backlog` | held rows, read ahead without the lock |
| `drain` | the held rows that leave in a step; where an event goes (`Verdict`) |
| `step` | one step: from its input to the records that it writes |
| `positions` | compare committed and known positions before acting |
| `unreadable` | events that cannot be read |
"""

from holdfast.gate.backlog import Backlog, HeldRow, Reading, Room
from holdfast.gate.change_history import ChangeHistory
from holdfast.gate.clock import Clock, Now
from holdfast.gate.control import DUPLICATE_WINDOW, ControlEntry, ControlLog, UnreadableCommandError
from holdfast.gate.drain import Drained, Verdict
from holdfast.gate.holds import FlowHolds, KeysOfInterest
from holdfast.gate.positions import (
    check_log,
    cut_back,
    is_current,
    range_to_take,
    starting_position,
)
from holdfast.gate.scopes import FlowPausedError, is_paused
from holdfast.gate.settings import GateSettings, blocked, flow_is_over, journal_is_due, paused
from holdfast.gate.state import Changes, PartitionState, Recount, StatusReader
from holdfast.gate.step import Result, Step, StepContext
from holdfast.gate.unreadable import Unreadable, UnreadableEventsError

__all__ = [
    "DUPLICATE_WINDOW",
    "Backlog",
    "ChangeHistory",
    "Changes",
    "Clock",
    "ControlEntry",
    "ControlLog",
    "Drained",
    "FlowHolds",
    "FlowPausedError",
    "GateSettings",
    "HeldRow",
    "KeysOfInterest",
    "Now",
    "PartitionState",
    "Reading",
    "Recount",
    "Result",
    "Room",
    "StatusReader",
    "Step",
    "StepContext",
    "Unreadable",
    "UnreadableCommandError",
    "UnreadableEventsError",
    "Verdict",
    "blocked",
    "check_log",
    "cut_back",
    "flow_is_over",
    "is_current",
    "is_paused",
    "journal_is_due",
    "paused",
    "range_to_take",
    "starting_position",
]
