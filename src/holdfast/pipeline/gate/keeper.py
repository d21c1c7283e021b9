"""The keeper: what a flow needs between batches, so that it never waits for events.

It applies commands, expires holds, drains held rows, writes counts to status, trims rows of held
that no entry needs, and commits again before offsets could expire.
"""

import logging
from collections.abc import Sequence
from math import inf
from threading import Thread
from time import monotonic

from confluent_kafka import KafkaException

from holdfast.client.kafka_errors import translate
from holdfast.client.positions import Partition
from holdfast.errors import HoldfastError, TransientError
from holdfast.gate import Backlog, Reading, Room, journal_is_due
from holdfast.pipeline.gate.exclusive import ExclusiveFlow
from holdfast.pipeline.gate.flow_gate import FlowGate, GateClosedError
from holdfast.pipeline.gate.held_rows import Held, HeldRows
from holdfast.pipeline.gate.steps import Upkeep

log = logging.getLogger(__name__)

DRAIN_ROWS = 20_000
"""Rows that leave held in one step: about a tenth of a second, in which a batch may wait."""
PUBLISHED = 2_000
"""Entries whose counts alone are written in one step, in all partitions together: some hundredths
of a second, in which a batch may wait."""

DRAIN_BYTES = 16 * 1024**2
READ_AHEAD_BYTES = 48 * 1024**2
"""Bytes of held rows that wait to leave, in all partitions together."""
SLICE_SECONDS = 0.2
"""How long held is read at a time. Commands and other keys are served in between."""

_TOPICS_SECONDS = 5.0
_ENDS_SECONDS = 0.5
_PUBLISH_SECONDS = 1.0
_TRIM_SECONDS = 30.0
_COMMIT_AGAIN_SECONDS = 24 * 60 * 60.0
_LONGEST_WAIT_SECONDS = 0.5
_LONGEST_SLEEP_SECONDS = 60.0
"""While nothing is committed and nothing is due, the keeper only checks the topics this often."""
_EXPIRY_SLEEP_SECONDS = 5.0
"""The wall clock may jump ahead meanwhile."""
_PACE_SECONDS = 0.02
"""Paced rows leave in steps this far apart, and not each in a transaction of its own."""


class _Timer:
    """Is due once in `seconds`."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._at = monotonic() + seconds

    def due(self) -> bool:
        if monotonic() < self._at:
            return False
        self._at = monotonic() + self._seconds
        return True


class Keeper:
    """The thread that keeps one flow."""

    def __init__(self, gate: FlowGate) -> None:
        self._gate = gate
        self._held = HeldRows(gate.connection.settings, gate.names.held)
        partitions = gate.flow.partitions
        room = Room(READ_AHEAD_BYTES)
        self._backlogs: list[Backlog[Held]] = [
            Backlog(size=READ_AHEAD_BYTES // partitions, room=room) for _ in range(partitions)
        ]
        self._next = 0
        """The partition whose rows are read first in the next turn."""
        self._reading_on = False
        """The pass over held of some partition must continue."""
        self._unread: TransientError | None = None
        """The reason why held could not be read in this turn."""
        self._topics = _Timer(_TOPICS_SECONDS)
        self._ends = _Timer(_ENDS_SECONDS)
        self._publish = _Timer(_PUBLISH_SECONDS)
        self._trim = _Timer(_TRIM_SECONDS)
        self._expiry_at: int | None = None
        """When the next hold expires, by the wall clock."""
        self._paced_at: int | None = None
        """When the next row of a paced key may leave, by the monotonic clock."""
        self._draining = False
        """Rows without a pace are to leave held."""
        self._journal_is_due = False
        """An overflow or other settings are yet to be journalled."""
        self._counts_are_old = False
        """Counts of some entries are yet to be written to status."""
        self._trimmed_commits = -1
        """How many commits there were at the last trim: without later ones nothing can be
        trimmed."""
        self._committed_at = monotonic()
        """When all partitions were last committed together."""
        self._trimmed = [0] * gate.flow.partitions
        self._thread: Thread | None = None
        self.error: Exception | None = None
        """The error that ended the thread, if `stop` did not."""

    def start(self) -> None:
        name = f"keeper of {self._gate.flow.name}"
        self._thread = Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Wait for the end of the thread, which comes when the gate is stopping."""
        self._gate.stopping.set()
        self._gate.news.set()
        if self._thread is not None:
            self._thread.join()
        self._held.close()

    def turn(self, *, trim: bool = False) -> bool:
        """Do what is due. Returns True if more is due at once."""
        gate = self._gate
        gate.news.clear()
        ends = self._poll_brokers()
        now = gate.clock().monotonic
        with gate.exclusive() as flow:
            flow.raise_held_ends(ends)
            ends = flow.held_ends
            readings = [
                (s.partition, reading)
                for s in flow.states
                if (reading := self._backlogs[s.partition].read(s, now)) is not None
            ]
            self._look_ahead(flow)
        self._read_slice(readings, ends)
        publish = 0
        if self._publish.due() and self._counts_are_old:
            publish = max(1, PUBLISHED // gate.flow.partitions)
        if self._trim.due() and gate.commits != self._trimmed_commits:
            trim = True
        again = monotonic() - self._committed_at > _COMMIT_AGAIN_SECONDS
        if publish or trim or again or self._something_to_do():
            gate.run_exclusively(
                lambda flow: self._step(flow, publish=publish, trim=trim, force=again)
            )
        if trim:
            trimmed, self._trimmed_commits = self._trimmed_commits, -1  # if it fails: once more
            self._trim_held()
            self._trimmed_commits = trimmed
        if self._unread is not None:
            raise self._unread  # after all else: what can be read is served
        return self._draining or self._reading_on

    def _read_slice(self, readings: list[tuple[int, Reading[Held]]], ends: Sequence[int]) -> None:
        """Read held for up to `SLICE_SECONDS`, without the lock: rows never change. Partitions that
        are left out come first in the next turn."""
        until = monotonic() + SLICE_SECONDS
        self._reading_on, self._unread = False, None
        readings.sort(key=lambda each: (each[0] < self._next, each[0]))
        for index, (partition, reading) in enumerate(readings):
            if index and monotonic() >= until:
                self._next, self._reading_on = partition, True
                return
            try:
                ended = self._held.read(partition, reading, ends[partition], until)
            except TransientError as error:
                self._unread = error
            else:
                self._reading_on |= not ended
        self._next = readings[0][0] + 1 if readings else 0

    def _run(self) -> None:
        gate = self._gate
        try:
            while not gate.stopping.is_set():
                try:
                    more = self.turn()
                except GateClosedError:
                    return
                except HoldfastError as error:
                    if not error.transient:
                        raise
                    gate.report_trouble(error)
                    more = False
                self._wait(more)
        except Exception as error:
            log.exception("The keeper of %s has failed.", gate.flow.name)
            self.error = error
            gate.stopping.set()

    def _poll_brokers(self) -> Sequence[int]:
        """Check the topics and read the ends of held, where that is due. Returns the ends."""
        if self._topics.due():
            self._gate.check_topics()
        if not self._ends.due():
            return [0] * self._gate.flow.partitions
        ends = self._gate.read_held_ends()
        self._gate.broker_answered()
        return ends

    def _something_to_do(self) -> bool:
        if self._gate.has_new_commands() or self._due_in() <= 0:
            return True
        drains = self._draining and not all(backlog.is_empty for backlog in self._backlogs)
        return drains or self._journal_is_due

    def _step(self, flow: ExclusiveFlow, *, publish: int, trim: bool, force: bool) -> None:
        """Run a step without events for every partition that has something to do, in one
        transaction."""
        if trim:
            flow.refresh_held_ends()  # the end first, then the entries' starts
        context = flow.begin_step()
        draining = sum(bool(state.outgoing) for state in flow.states)
        upkeep = {
            state.partition: Upkeep(
                backlog=self._backlogs[state.partition],
                rows=DRAIN_ROWS // max(1, draining),
                size=DRAIN_BYTES // max(1, draining),
                publish=publish,
                trim=trim,
                unreadable=flow.to_skip(state),
            )
            for state in flow.states
        }
        steps = flow.decide_upkeep(context, upkeep)
        flow.commit([step for step in steps if force or not step.result.idle])
        if trim:
            self._trimmed_commits = self._gate.commits
        self._look_ahead(flow)

    def _look_ahead(self, flow: ExclusiveFlow) -> None:
        """Remember what will be due."""
        states = flow.states
        expiries = [at for state in states if (at := state.next_expiry()) is not None]
        paced = [at for state in states if (at := state.next_paced()) is not None]
        self._expiry_at, self._paced_at = min(expiries, default=None), min(paced, default=None)
        self._draining = any(state.drains for state in states)
        self._journal_is_due = journal_is_due(states, flow.settings)
        self._counts_are_old = any(state.uncounted for state in states)
        self._committed_at = flow.committed_at

    def _trim_held(self) -> None:
        """Delete rows of held below the committed trim points, and no others."""
        points = {
            Partition(self._gate.names.held, p): position.trim
            for p, position in enumerate(self._gate.positions())
            if position.trim > self._trimmed[p]
        }
        if not points:
            return
        positions = [partition.at(offset) for partition, offset in points.items()]
        try:
            futures = self._gate.connection.admin.delete_records(positions)
        except KafkaException as error:
            raise translate(error, "Trimming held rows") from None
        for position, future in futures.items():
            self._gate.connection.wait(future, f"Trimming rows of {position.topic}")
        for partition, offset in points.items():
            self._trimmed[partition.number] = offset

    def _wait(self, more: bool) -> None:
        """Wait for news, or until something is due. Intake and tasks take commands too, so each
        commit that changes an entry or holds events wakes a sleeping keeper."""
        gate = self._gate
        due = 0.0 if more else max(_PACE_SECONDS, self._due_in())
        gate.keeper_sleeps = not more and self._is_quiet()
        # Again: there may have been a commit before the line above.
        gate.keeper_sleeps = gate.keeper_sleeps and self._is_quiet()
        longest = _LONGEST_WAIT_SECONDS
        if gate.keeper_sleeps:
            longest = _LONGEST_SLEEP_SECONDS if self._expiry_at is None else _EXPIRY_SLEEP_SECONDS
        gate.news.wait(min(longest, due))
        gate.keeper_sleeps = False

    def _is_quiet(self) -> bool:
        """Returns True if nothing will be due without news, but for an expiry or a paced row."""
        gate = self._gate
        waiting = self._counts_are_old or self._journal_is_due or self._reading_on
        waiting = waiting or gate.has_new_commands()  # a failed step may have cleared its news
        return not waiting and gate.trouble is None and gate.commits == self._trimmed_commits

    def _due_in(self) -> float:
        """Seconds until a hold expires or a paced row may leave."""
        now = self._gate.clock()
        expiry = inf if self._expiry_at is None else self._expiry_at - now.wall
        paced = inf if self._paced_at is None else self._paced_at - now.monotonic
        return min(expiry, paced) / 1000
