"""The gate: which events pass, which are held, which come out. Pure: no Kafka, no Spark, no clock.

One step of one partition, as a caller runs it under the flow's lock:

    control.advance(h)                              # the control log, read through h - 1
    holds.advance(control, h, now)
    moment = Moment(owner, partitions, holds, settings, flow_is_over(states, settings.limits))
    commands = control.between(state.position.control, holds.through)
    step = Step(state, moment, commands, held_end=..., end=e)
    verdicts = step.decide(keys, offsets, sizes, timestamps)     # events of KeysOfInterest alone
    result = step.finish()
    ...                                             # write it all in one transaction, commit
    state.apply(result.changes)                     # only now

The keeper drains in steps without events: `backlog.read(state)` says what to read of held, without
the lock; then, under it, `step.drain(backlog)` says which rows go out.

| module | idea |
|---|---|
| `control` | the control log: duplicates, what is unreadable, who answers |
| `holds` | which keys of the whole flow are held, and which events need a decision at all |
| `settings`, `overflow` | limits, policy, schema; when a flow is blocked |
| `transitions` | how one key's entry changes |
| `state` | one partition's state, and how a committed step changes it |
| `latest` | what has changed of late, for copies that follow |
| `recount` | counting, at start, the held rows that status has not counted |
| `draft` | the copy on which a step decides |
| `answers` | what comes of commands, time and limits |
| `backlog` | held rows, read ahead without the lock |
| `drain` | giving held rows out |
| `step` | one step from input to what is written |
| `positions` | compare, then act |
| `pacing`, `deadlines`, `verdict` | a token bucket; what is due; where an event goes |
"""

from holdfast.gate.backlog import Backlog, HeldRow, Reading
from holdfast.gate.control import DUPLICATE_WINDOW, Asked, ControlLog, UnreadableCommandError
from holdfast.gate.drain import Drained
from holdfast.gate.holds import FlowHolds, KeysOfInterest
from holdfast.gate.latest import Latest
from holdfast.gate.overflow import blocked, flow_is_over, journal_is_due
from holdfast.gate.positions import check_log, is_current, range_to_take, starting_position
from holdfast.gate.recount import Recount
from holdfast.gate.settings import GateSettings
from holdfast.gate.state import Changes, PartitionState, StatusReader
from holdfast.gate.step import Moment, Result, Step
from holdfast.gate.verdict import Verdict

__all__ = [
    "DUPLICATE_WINDOW",
    "Asked",
    "Backlog",
    "Changes",
    "ControlLog",
    "Drained",
    "FlowHolds",
    "GateSettings",
    "HeldRow",
    "KeysOfInterest",
    "Latest",
    "Moment",
    "PartitionState",
    "Reading",
    "Recount",
    "Result",
    "StatusReader",
    "Step",
    "UnreadableCommandError",
    "Verdict",
    "blocked",
    "check_log",
    "flow_is_over",
    "is_current",
    "journal_is_due",
    "range_to_take",
    "starting_position",
]
