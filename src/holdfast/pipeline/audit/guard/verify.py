"""The job: checks all partitions of a guard, which may be running, and returns the result.

A fault counts if a second reading finds it, too. A running guard moves on while its logs are read;
damage stays where it is.
"""

import time
from collections.abc import Callable, Iterable, Mapping
from itertools import groupby

from holdfast.client.committed import committed_positions
from holdfast.client.connection import Connection
from holdfast.client.positions import Partition
from holdfast.client.topics import Topics
from holdfast.errors import ConflictError, EventsLostError
from holdfast.flows.registry import FlowDefinition
from holdfast.flows.status import Position
from holdfast.pipeline.audit.guard.check import PartitionCheck, PartitionResult
from holdfast.pipeline.audit.guard.logs import GuardLogs
from holdfast.pipeline.audit.verification import (
    CHECKS,
    COMMANDS,
    DEAD_LETTERS,
    JOURNAL,
    ORDER,
    STATUS,
    Check,
    Example,
    Fault,
    Finding,
    Verification,
)

_ATTEMPTS = 5
"""How often a partition is read, because its guard may delete rows of held meanwhile."""

GUARD_CHECKS: Mapping[str, tuple[Fault, ...]] = {
    **{name: CHECKS[name] for name in ("every event in exactly one place", "events unchanged")},
    ORDER: (Fault.LET_THROUGH, Fault.HELD_SWAPPED, Fault.STUCK),
    DEAD_LETTERS: (Fault.DEAD_UNASKED,),
    COMMANDS: (Fault.UNANSWERED, Fault.ANSWERS_NOTHING, Fault.CONTROL_MISSING),
    JOURNAL: CHECKS[JOURNAL],
    STATUS: CHECKS[STATUS],
}
_ALWAYS = (
    "whether a handler was called, and how often: only what it sends to Kafka leaves a record",
    "when holds began and ended, beyond what the journal says of it",
)

Progress = Callable[[float, str], None]


def verify_guard(
    connection: Connection,
    flow: FlowDefinition,
    *,
    examples: int = 20,
    progress: Progress = lambda share, what: None,
) -> Verification:
    """Account for every event of a guard's topic. ConflictError if the guard has never run."""
    began = time.monotonic()
    audit = _Audit(connection, flow)
    try:
        results = {}
        for partition in range(flow.partitions):
            progress(partition / flow.partitions, f"Partition {partition}")
            results[partition] = audit.check(partition)
        if not any(result.journal for result in results.values()):
            raise ConflictError(f"The guard {flow.name!r} has never run: nothing to verify.")
        commands = audit.check_commands(results)
    finally:
        audit.close()
    return _verification(flow, results, commands, audit.compacted, examples, began)


class _Audit:
    """Reads and checks one partition after the other."""

    def __init__(self, connection: Connection, flow: FlowDefinition) -> None:
        self._connection = connection
        self._flow = flow
        self._logs = GuardLogs(connection, flow.names)
        self._answers: dict[int, list[tuple[int, int]]] = {}
        """For each command that a journal names: partition and cut of the records."""
        self._positions: dict[int, Position] = {}
        policy = Topics(connection).config(flow.names.events)["cleanup.policy"].value or ""
        self.compacted = "compact" in policy

    def close(self) -> None:
        self._logs.close()

    def check(self, partition: int) -> PartitionResult:
        first = self._check_once(partition)
        if not first.faults:
            return first
        second = self._check_once(partition)
        second.faults = {at: found for at, found in second.faults.items() if at in first.faults}
        return second

    def _check_once(self, partition: int) -> PartitionResult:
        for again in reversed(range(_ATTEMPTS)):
            try:
                committed = self._committed(partition)
                logs = self._logs.read(partition)
                check = PartitionCheck(logs, committed, compacted=self.compacted)
                result = check.run(self._logs.events(logs, check.result.start))
            except EventsLostError:
                if not again:
                    raise
            else:
                break
        if logs.position is not None:
            self._positions[partition] = logs.position
        for record in logs.journal:
            if record.command is not None:
                self._answers.setdefault(record.command.offset, []).append((partition, record.cut))
        return result

    def check_commands(self, results: Mapping[int, PartitionResult]) -> int:
        """Every command that all partitions have taken has an answer. Returns their number."""
        start, commands = self._logs.commands()
        result = results[0]
        taken = max((p.control for p in self._positions.values()), default=0)
        by_all = min((p.control for p in self._positions.values()), default=0)
        if start or (commands and taken > max(commands) + 1) or (taken and not commands):
            detail = f"it begins at {start}, but commands up to {taken} were taken"
            result.add(Fault.CONTROL_MISSING, "control", 0, start, detail)
        for offset in sorted(commands):
            if offset < by_all and offset not in self._answers:
                result.add(Fault.UNANSWERED, "control", 0, offset)
        for offset, answers in sorted(self._answers.items()):
            if offset not in commands and offset >= start:
                partition, cut = answers[0]
                detail = f"control offset {offset}"
                results[partition].add(Fault.ANSWERS_NOTHING, "journal", partition, cut, detail)
        return sum(offset < taken for offset in commands)

    def _committed(self, partition: int) -> Position | None:
        names, timeout = self._flow.names, self._connection.settings.request_timeout
        reader = self._connection.reader(group=names.group)
        try:
            source = {Partition(names.events, partition)}
            return committed_positions(reader, source, timeout)[partition]
        finally:
            reader.close()


def _verification(
    flow: FlowDefinition,
    results: Mapping[int, PartitionResult],
    commands: int,
    compacted: bool,
    examples: int,
    began: float,
) -> Verification:
    each = list(results.values())
    handled, held, dead = (sum(getattr(r, n) for r in each) for n in ("handled", "held", "dead"))
    events, trimmed = handled + held + dead, sum(result.trimmed for result in each)
    findings = _findings((f, e) for r in each for (f, *_), e in r.faults.items())
    findings_of = {finding.fault: finding for finding in _limited(findings, examples)}
    examined = dict.fromkeys(GUARD_CHECKS, events)
    examined |= {
        ORDER: sum(result.waited for result in each),
        DEAD_LETTERS: dead,
        COMMANDS: commands,
        JOURNAL: sum(result.journal for result in each),
        STATUS: len(each),
    }
    not_checked = list(_ALWAYS)
    if trimmed:
        not_checked.insert(0, f"rows of {trimmed:,} events that have left held and were deleted")
    if compacted:
        not_checked.insert(0, f"events that compaction has deleted from {flow.names.events}")
    return Verification(
        flow=flow.name,
        events=events,
        processed=handled,
        held=held,
        dead=dead,
        landed=0,
        commands=commands,
        checks=tuple(
            Check(name, examined[name], tuple(findings_of[f] for f in faults if f in findings_of))
            for name, faults in GUARD_CHECKS.items()
        ),
        not_checked=tuple(not_checked),
        ranges={p: (result.start, result.end) for p, result in results.items()},
        incremental=False,
        guard=True,
        not_taken=sum(result.not_taken for result in each),
        given_up=sum(result.skipped for result in each),
        seconds=round(time.monotonic() - began, 2),
    )


def _findings(faults: Iterable[tuple[Fault, Example]]) -> Iterable[Finding]:
    ordered = sorted(faults, key=lambda f: (f[0].value, f[1].log, f[1].partition, f[1].offset))
    for fault, group in groupby(ordered, key=lambda each: each[0]):
        found = tuple(example for _, example in group)
        yield Finding(fault, len(found), found)


def _limited(findings: Iterable[Finding], examples: int) -> Iterable[Finding]:
    for finding in findings:
        yield Finding(finding.fault, finding.count, finding.examples[:examples])
