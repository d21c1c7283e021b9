"""Random histories of a guard, as the logs that its audit reads."""

import random
from dataclasses import dataclass, field, replace
from typing import Any

from tests.unit.guard.world import Logs, Model, Worker, commands_for

from holdfast.flows.journal import JournalRecord
from holdfast.flows.status import Active, Entry, Position
from holdfast.gate import Now, Result
from holdfast.guard.event import Event
from holdfast.guard.settlement import Letter
from holdfast.pipeline.audit.guard.check import PartitionCheck, PartitionResult
from holdfast.pipeline.audit.guard.logs import Copy, PartitionLogs

KEYS = [b"a", b"b", b"c", b"d", b"e"]


@dataclass
class AuditedLogs(Logs):
    journal: list[JournalRecord] = field(default_factory=list)
    letters: list[tuple[int, str]] = field(default_factory=list)


class AuditedWorker(Worker):
    def commit(
        self, result: Result, held: list[Event], letters: list[Letter], handled: list[int]
    ) -> None:
        assert isinstance(self.logs, AuditedLogs)
        self.logs.journal += result.journal
        self.logs.letters += [(each.event.offset, each.failure.kind) for each in letters]
        super().commit(result, held, letters, handled)


def copy_of(key: bytes, event: int, offset: int, **fields: Any) -> Copy:
    """A record with the content of the event of that source offset."""
    return Copy(offset, key, hash(b"%d" % event), hash(()), 1_000 + event, **fields)


@dataclass
class Account:
    """What is in Kafka after a history, to be damaged and audited."""

    logs: PartitionLogs
    events: list[Copy]
    committed: Position | None
    compacted: bool = False

    def audit(self) -> PartitionResult:
        check = PartitionCheck(self.logs, self.committed, compacted=self.compacted)
        return check.run([e for e in self.events if e.offset >= check.result.start])

    def faults(self) -> set[str]:
        return {fault.value for fault, *_ in self.audit().faults}


def account_of(logs: AuditedLogs) -> Account:
    found = PartitionLogs(0, logs.position, journal=list(logs.journal))
    for record in logs.status:
        if isinstance(record, Entry):
            found.entries[record.key] = record
        elif isinstance(record, Active):
            found.entries.pop(record.key, None)
    found.held = [
        copy_of(key, source, offset, source=(0, source))
        for offset, (key, source) in enumerate(logs.held)
    ]
    found.letters = [
        copy_of(logs.keys[source], source, offset, source=(0, source), reason=reason)
        for offset, (source, reason) in enumerate(logs.letters)
    ]
    found.events_end = len(logs.keys)
    events = [copy_of(key, source, source) for source, key in enumerate(logs.keys)]
    return Account(found, events, logs.position)


def play(seed: int, turns: int = 60) -> tuple[AuditedLogs, list[Account]]:
    """A history with failures, slow events, commands and crashes; and accounts of some moments."""
    rng = random.Random(seed)
    logs, now = AuditedLogs(), Now(1_000_000, 0)
    model = Model(logs)
    worker = AuditedWorker(logs, model, "worker-0", now, rng)
    accounts = []
    for turn in range(turns):
        elapsed = rng.choice((1, 10, 600, 2_500))
        now = Now(now.wall + elapsed, now.monotonic + elapsed)
        for _ in range(rng.choice((0, 1, 4))):
            logs.keys.append(rng.choice(KEYS))
            worker.broken |= {len(logs.keys) - 1} if rng.random() < 0.25 else set()
            worker.slow |= {len(logs.keys) - 1} if rng.random() < 0.15 else set()
        if rng.random() < 0.2:
            logs.commands.extend(commands_for(rng, KEYS, now.wall))
        if rng.random() < 0.3:
            worker.broken = {source for source in worker.broken if rng.random() < 0.5}
            worker.wake_slow()
        crash = rng.choice(("", "", "", "", "before", "after"))
        worker.turn(now, most=8, crash=crash)
        if crash:
            broken, slow = worker.broken, worker.slow
            worker = AuditedWorker(logs, model, f"worker-{turn + 1}", now, rng)
            worker.broken, worker.slow = broken, slow
        if turn % 10 == 9:
            accounts.append(account_of(logs))
    return logs, accounts


def moved(copy: Copy, **fields: Any) -> Copy:
    return replace(copy, **fields)
