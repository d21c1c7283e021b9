"""Compares the records that readers got with the log that they read."""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from tests.chaos.system.findings import Breach, Findings
from tests.chaos.system.history import Poll
from tests.chaos.system.outcome import Record


def check_reader(
    findings: Findings, name: str, polls: Iterable[Poll], log: Sequence[Record]
) -> None:
    """It was given each record of the log once, in order, and nothing that is not there."""
    there = {record.place: record.id for record in log}
    offsets = offsets_by_partition(log)
    next_index: dict[int, int] = defaultdict(int)
    for poll in polls:
        if there.get((poll.partition, poll.offset)) != poll.id:
            findings.add(Breach.PHANTOM, f"{name} processed: {poll} is not in the log")
            continue
        index = bisect_left(offsets[poll.partition], poll.offset)
        due = next_index[poll.partition]
        if index < due:
            findings.add(Breach.WENT_BACK, f"{name} processed: {poll}")
        elif index > due:
            missed = offsets[poll.partition][due]
            findings.add(Breach.SKIPPED, f"{name} processed: {poll}, but not {missed}")
        next_index[poll.partition] = index + 1


def offsets_by_partition(log: Iterable[Record]) -> dict[int, list[int]]:
    found: dict[int, list[int]] = defaultdict(list)
    for record in log:
        found[record.partition].append(record.offset)
    return found


@dataclass(slots=True)
class _Owned:
    """One partition, as the worker has it."""

    offsets: Sequence[int]
    """Of the records that there are."""
    due: int = 0
    """The index of the next one in this ownership."""
    handled: set[int] = field(default_factory=set)
    """Indexes."""
    committed: int = 0
    handled_below: int = 0
    """All indexes below are handled."""


def check_worker(findings: Findings, lines: Iterable[str], log: Sequence[Record]) -> None:
    """Within an ownership each record once, in order; commits never beyond what was handled, nor
    back; and in the end all was handled."""
    offsets = offsets_by_partition(log)
    owned: dict[int, _Owned] = defaultdict(lambda: _Owned([]))
    owned |= {p: _Owned(found) for p, found in offsets.items()}
    for line in lines:
        number, what, *place = line.split()
        partition, offset = map(int, place)
        said = f"worker {number} {what} {partition}:{offset}"
        _take(findings, owned[partition], what, offset, said)
    for partition, part in owned.items():
        left = len(part.offsets) - len(part.handled)
        if left:
            findings.add(Breach.UNHANDLED, f"{left} records of partition {partition} in the end")


def _take(findings: Findings, part: _Owned, what: str, offset: int, said: str) -> None:
    index = bisect_left(part.offsets, offset)
    if what == "owns":
        if offset < part.committed:
            findings.add(Breach.COMMIT_BACK, f"{said}, after a commit of {part.committed}")
        if not _all_handled_below(part, index):
            findings.add(Breach.SKIPPED, f"{said}: there are records before it, not handled")
        part.due = index
    elif what == "handles":
        if index >= len(part.offsets) or part.offsets[index] != offset:
            findings.add(Breach.PHANTOM, f"{said}: it is not in the log")
            return
        if index != part.due:
            breach = Breach.WENT_BACK if index < part.due else Breach.SKIPPED
            findings.add(breach, f"{said}, when {part.offsets[part.due]} was due")
        part.handled.add(index)
        part.due = index + 1
    elif what == "commits":
        if not _all_handled_below(part, index):
            findings.add(Breach.UNHANDLED, f"{said}: not all before it is handled")
        part.committed = max(part.committed, offset)


def _all_handled_below(part: _Owned, index: int) -> bool:
    while part.handled_below in part.handled:
        part.handled_below += 1
    return part.handled_below >= index
