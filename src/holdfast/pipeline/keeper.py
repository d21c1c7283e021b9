"""The keeper: what a flow needs between batches, so that it never waits for events to come.

It tails the control log, expires holds, gives held rows out, writes counts to status, lets go of
rows that nobody needs, and commits again before offsets could expire.
"""

import logging
from collections.abc import Collection
from threading import Thread
from time import monotonic

from confluent_kafka import KafkaException

from holdfast.client.kafka_errors import translate
from holdfast.client.positions import Partition
from holdfast.errors import HoldfastError
from holdfast.gate import Backlog, journal_is_due
from holdfast.pipeline.flow_gate import FlowGate, GateClosedError
from holdfast.pipeline.held_rows import Held, HeldRows
from holdfast.pipeline.steps import Prepared, decide_upkeep

log = logging.getLogger(__name__)

DRAIN_ROWS = 20_000
"""Rows that leave held in one step: about a tenth of a second, in which a batch may wait."""
PUBLISHED = 2_000
"""Entries whose counts alone are written in one step, in all partitions together: some hundredths
of a second, in which a batch may wait."""

DRAIN_BYTES = 16 * 1024**2
READ_AHEAD_BYTES = 48 * 1024**2
"""Of held rows that wait to leave, in all partitions together."""

_TOPICS_SECONDS = 5.0
_ENDS_SECONDS = 0.5
_PUBLISH_SECONDS = 1.0
_TRIM_SECONDS = 30.0
_COMMIT_AGAIN_SECONDS = 24 * 60 * 60.0
_LONGEST_WAIT = 0.5
_PACE_SECONDS = 0.02
"""Paced rows leave in steps this far apart, and not each in a transaction of its own."""


class _Timer:
    """Due every so often."""

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
        self._backlogs: list[Backlog[Held]] = [
            Backlog(size=READ_AHEAD_BYTES // partitions) for _ in range(partitions)
        ]
        self._topics = _Timer(_TOPICS_SECONDS)
        self._ends = _Timer(_ENDS_SECONDS)
        self._publish = _Timer(_PUBLISH_SECONDS)
        self._trim = _Timer(_TRIM_SECONDS)
        self._wake_at: int | None = None
        """When something is due by the clock: an expiry, a row of a paced key."""
        self._draining = False
        """Rows are to leave held as fast as they can."""
        self._journal_is_due = False
        """An overflow or other settings are yet to be told of."""
        self._trimmed = [0] * gate.flow.partitions
        self._thread: Thread | None = None
        self.error: Exception | None = None
        """What ended the thread, if that was not `stop`."""

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
        """Do what is due. -> whether more is due at once"""
        gate = self._gate
        gate.news.clear()
        self._look_around()
        with gate.lock.turn():
            readings = [(s.partition, self._backlogs[s.partition].read(s)) for s in gate.states]
            self._look_ahead()
        for partition, reading in readings:
            if reading is not None:  # without the lock: rows never change
                self._held.read(partition, reading, gate.held_ends[partition])
        publish = 0
        if self._publish.due() and self._counts_are_old():
            publish = max(1, PUBLISHED // len(gate.states))
        trim = self._trim.due() or trim
        again = monotonic() - gate.committed_at > _COMMIT_AGAIN_SECONDS
        if publish or trim or again or self._something_to_do():
            gate.carry_out(lambda: self._step(publish=publish, trim=trim, force=again))
        if trim:
            self._let_go()
        return self._draining

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
                    gate.say(error)
                    more = False
                gate.news.wait(self._patience(more))
        except Exception as error:
            log.exception("The keeper of %s has failed.", gate.flow.name)
            self.error = error
            gate.stopping.set()

    def _look_around(self) -> None:
        if self._topics.due():
            self._gate.check_topics()
        if self._ends.due():
            self._gate.refresh_held_ends()
            self._gate.reached()

    def _something_to_do(self) -> bool:
        gate = self._gate
        if any(state.position.control < gate.tail.reached for state in gate.states):
            return True
        if self._wake_at is not None and self._wake_at <= gate.clock():
            return True
        return self._draining or self._journal_is_due

    def _counts_are_old(self) -> bool:
        return any(state.uncounted for state in self._gate.states)

    def _step(self, *, publish: int, trim: bool, force: bool) -> None:
        """One step without events for every partition that has something to do, in one
        transaction. Under the lock: entries are looked at as they are now."""
        gate = self._gate
        if trim:
            gate.refresh_held_ends()  # the end first, then the entries' starts
        moment = gate.moment()
        draining = sum(bool(state.outgoing) for state in gate.states)

        def prepare(_: Collection[tuple[int, int]]) -> list[Prepared]:
            steps = [
                decide_upkeep(
                    state,
                    moment,
                    gate.commands(state),
                    held_end=gate.held_ends[state.partition],
                    backlog=self._backlogs[state.partition],
                    rows=DRAIN_ROWS // max(1, draining),
                    size=DRAIN_BYTES // max(1, draining),
                    publish=publish,
                    trim=trim,
                )
                for state in gate.states
            ]
            return [step for step in steps if force or not step.result.idle]

        gate.commit(prepare)
        self._look_ahead()

    def _look_ahead(self) -> None:
        """What will be due. Under the lock."""
        states = self._gate.states
        times = [at for state in states if (at := state.wake_at()) is not None]
        self._wake_at = min(times, default=None)
        self._draining = any(state.outgoing.keys() - state.buckets.keys() for state in states)
        self._journal_is_due = journal_is_due(states, self._gate.settings)

    def _let_go(self) -> None:
        """Delete rows of held below the committed trim points, and no others."""
        points = {
            Partition(self._gate.names.held, state.partition): state.position.trim
            for state in self._gate.states
            if state.position.trim > self._trimmed[state.partition]
        }
        if not points:
            return
        places = [partition.at(offset) for partition, offset in points.items()]
        try:
            futures = self._gate.connection.admin.delete_records(places)
        except KafkaException as error:
            raise translate(error, "Letting go of held rows") from None
        for place, future in futures.items():
            self._gate.connection.wait(future, f"Letting go of rows of {place.topic}")
        for partition, offset in points.items():
            self._trimmed[partition.number] = offset

    def _patience(self, more: bool) -> float:
        """How long nothing is due by the clock alone."""
        if more:
            return 0.0
        if self._wake_at is None:
            return _LONGEST_WAIT
        return min(_LONGEST_WAIT, max(_PACE_SECONDS, (self._wake_at - self._gate.clock()) / 1000))
