"""Compacts a log while it is in use.

Reading and rewriting records is slow in Python, so it runs in a separate process
(`python -m holdfast.broker.log.compaction`, a plan on standard input, the result on standard
output) that writes to a separate directory. The log then adopts the new segments:

    <dir>/compaction.cleaned/<base>.log     written and synced; a crash drops it
    <dir>/<base>-<end>.swap                 decided: a crash from here on finishes it
    <dir>/<base>.log                        in place of the segments that began in [base, end)
"""

import asyncio
import json
import os
import shutil
import signal
import sys
from dataclasses import dataclass
from typing import Any

from holdfast.broker.log.cleaning import ActiveProducer, CompactionPlan, Uncleanable, clean
from holdfast.broker.log.directory import CLEANED_DIRECTORY, COMPACTED
from holdfast.broker.log.files import rename, replace_file, sync_directory
from holdfast.broker.log.index import AbortedTransaction
from holdfast.broker.log.leftovers import swap_name
from holdfast.broker.log.partition_log import PartitionLog
from holdfast.broker.log.segment import MAX_RELATIVE_OFFSET, Segment, SegmentFacts

PR_SET_PDEATHSIG = 1
"""Linux's prctl: the signal to get when the parent ends."""


@dataclass(frozen=True, slots=True)
class CompactionResult:
    """The result of a compaction."""

    bytes_before: int = 0
    bytes_after: int = 0
    cleaned_offset: int = 0
    failure: str | None = None

    def __str__(self) -> str:
        if self.failure is not None:
            return f"Not compacted: {self.failure}"
        return (
            f"Compacted {self.bytes_before} bytes to {self.bytes_after}, "
            f"up to offset {self.cleaned_offset}"
        )


def compact_needed(log: PartitionLog, now_ms: int) -> bool:
    """Returns True if enough records are new, or old enough, since the last compaction."""
    if not log.config.compacted or log.is_compacting or log.uncleanable or log.is_abandoned:
        return False
    cleanable = _cleanable(log, now_ms)
    dirty = [segment for segment in cleanable if _end_of(log, segment) > log.cleaned_offset]
    dirty_bytes = sum(segment.size for segment in dirty)
    if not dirty_bytes:
        return False
    oldest = min(segment.first_timestamp for segment in dirty)
    if now_ms - oldest > log.config.max_compaction_lag_ms:
        return True
    total = sum(segment.size for segment in cleanable)
    return dirty_bytes / total > log.config.min_cleanable_dirty_ratio


async def compact(log: PartitionLog, now_ms: int) -> CompactionResult:
    """Compacts closed and decided segments. Readers and writers continue meanwhile.

    A failure is in the result, and leaves the log unchanged.
    """
    planned = plan(log, now_ms)
    if planned is None or log.is_compacting:
        return CompactionResult(failure="There is nothing to compact")
    log.is_compacting = True
    try:
        return await _compact(log, planned)
    except OSError as error:
        return CompactionResult(failure=str(error))
    finally:
        log.is_compacting = False
        shutil.rmtree(_target(log), ignore_errors=True)


async def _compact(log: PartitionLog, planned: CompactionPlan) -> CompactionResult:
    target = _target(log)
    shutil.rmtree(target, ignore_errors=True)
    os.mkdir(target)
    answer = await _run(str(log.directory), planned)
    if "failure" in answer:
        log.uncleanable = answer["damaged"]
        return CompactionResult(failure=answer["failure"])
    before = after = 0
    for facts, group in zip(answer["segments"], planned.groups, strict=False):
        new = SegmentFacts(*facts)
        bases = [old.base_offset for old in group]
        end = _end_of_group(planned, group)
        if not log.has_segments(bases, end):
            return CompactionResult(failure="segments were dropped meanwhile")
        await asyncio.to_thread(_decide, str(log.directory), target, new.base_offset, end)
        if not log.adopt(new, bases, end, target):
            return CompactionResult(failure="segments were dropped meanwhile")
        before += sum(old.size for old in group)
        after += new.size
    log.cleaned_offset = max(log.cleaned_offset, answer["end"])
    return CompactionResult(before, after, log.cleaned_offset)


def _decide(directory: str, target: str, base: int, end: int) -> None:
    """Makes the new segment final, whatever happens afterwards."""
    replace_file(f"{directory}/{COMPACTED}", b"")
    rename(f"{target}/{base:020d}.log", f"{directory}/{swap_name(base, end)}")
    sync_directory(directory)


def plan(log: PartitionLog, now_ms: int) -> CompactionPlan | None:
    """The segments that can be compacted now; None if there are none."""
    cleanable = _cleanable(log, now_ms)
    if not cleanable:
        return None
    end = _end_of(log, cleanable[-1])
    return CompactionPlan(
        groups=_groups(cleanable, log.config.segment_bytes, end),
        end=end,
        dirty_from=log.cleaned_offset,
        aborted=tuple(log.aborted_transactions(cleanable[0].base_offset, end)),
        producers={
            producer_id: ActiveProducer(producer.last_data_offset, producer.epoch)
            for producer_id, producer in log.active_producers()
        },
        now_ms=now_ms,
        delete_retention_ms=log.config.delete_retention_ms,
        interval=log.config.index_interval_bytes,
        was_compacted=os.path.exists(f"{log.directory}/{COMPACTED}"),
    )


def _cleanable(log: PartitionLog, now_ms: int) -> list[Segment]:
    """Closed segments in which all transactions are decided and all records are old enough."""
    found = []
    for segment in log.segments.sealed:
        if _end_of(log, segment) > min(log.last_stable_offset, log.checkpoint_base):
            break
        lag = log.config.min_compaction_lag_ms
        if lag > 0 and segment.max_timestamp > now_ms - lag:
            break
        found.append(segment)
    return found


def _end_of(log: PartitionLog, segment: Segment) -> int:
    following = log.segments.next_base(segment)
    return log.end_offset if following is None else following


def _groups(
    segments: list[Segment], max_bytes: int, end: int
) -> tuple[tuple[SegmentFacts, ...], ...]:
    """Groups of neighbours that fit into one segment."""
    ends = [segment.base_offset for segment in segments[1:]] + [end]
    groups: list[list[SegmentFacts]] = []
    size = 0
    for segment, segment_end in zip(segments, ends, strict=True):
        fits = (
            groups
            and size + segment.size <= max_bytes
            and segment_end - groups[-1][0].base_offset <= MAX_RELATIVE_OFFSET
        )
        if not fits:
            groups.append([])
            size = 0
        groups[-1].append(segment.facts())
        size += segment.size
    return tuple(tuple(group) for group in groups)


def _end_of_group(planned: CompactionPlan, group: tuple[SegmentFacts, ...]) -> int:
    number = planned.groups.index(group) + 1
    return planned.groups[number][0].base_offset if number < len(planned.groups) else planned.end


def _target(log: PartitionLog) -> str:
    return f"{log.directory}/{CLEANED_DIRECTORY}"


# the separate process


async def _run(directory: str, planned: CompactionPlan) -> Any:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", __name__, directory, str(os.getpid()),
        stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
    )  # fmt: skip
    try:
        output, _ = await process.communicate(_encode(planned))
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    if process.returncode != 0:
        return {"failure": f"its process ended with {process.returncode}", "damaged": False}
    return json.loads(output)


def _encode(planned: CompactionPlan) -> bytes:
    return json.dumps(
        {
            "groups": planned.groups,
            "end": planned.end,
            "dirty_from": planned.dirty_from,
            "aborted": planned.aborted,
            "producers": [[i, p.last_data_offset, p.epoch] for i, p in planned.producers.items()],
            "now_ms": planned.now_ms,
            "delete_retention_ms": planned.delete_retention_ms,
            "interval": planned.interval,
            "was_compacted": planned.was_compacted,
            "max_keys": planned.max_keys,
        }
    ).encode()


def _decode(data: bytes) -> CompactionPlan:
    document = json.loads(data)
    document["groups"] = tuple(
        tuple(SegmentFacts(*facts) for facts in group) for group in document["groups"]
    )
    document["aborted"] = tuple(AbortedTransaction(*fields) for fields in document["aborted"])
    document["producers"] = {i: ActiveProducer(o, e) for i, o, e in document["producers"]}
    return CompactionPlan(**document)


def main(directory: str, broker: int) -> None:
    """Carries out the plan on standard input for the log in `directory`, while `broker` lives."""
    _die_with(broker)
    os.nice(10)  # requests have priority
    try:
        planned = _decode(sys.stdin.buffer.read())
    except json.JSONDecodeError:  # cut: the broker is ending, and so does this process
        sys.exit(1)
    answer: dict[str, Any]
    try:
        end, segments = clean(directory, f"{directory}/{CLEANED_DIRECTORY}", planned)
        answer = {"end": end, "segments": segments}
    except Uncleanable as error:
        answer = {"failure": str(error), "damaged": True}
    except OSError as error:
        answer = {"failure": str(error), "damaged": False}
    try:
        json.dump(answer, sys.stdout)
        sys.stdout.flush()
    except BrokenPipeError:  # the broker has ended, and nobody needs the answer
        os._exit(1)  # an ordinary exit would flush again, and complain again


def _die_with(broker: int) -> None:
    """Ends this process when the broker ends, however it ends.

    After a kill, a new broker may start on the same directory, and its compaction would write the
    same files as this one.
    """
    import ctypes  # the broker itself, which imports this module, does not need it

    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != broker:  # it ended before the call
        sys.exit(1)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
