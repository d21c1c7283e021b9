"""The gate of one flow as a part: its batches, and the keeper between them."""

from pyspark.sql import SparkSession

from holdfast.client.connection import Connection
from holdfast.flows.registry import FlowDefinition
from holdfast.gate import blocked as why_blocked
from holdfast.kafka.watch import Watches
from holdfast.pipeline.gate.flow_gate import FlowGate
from holdfast.pipeline.gate.intake import Intake
from holdfast.pipeline.gate.keeper import Keeper
from holdfast.pipeline.gate.steps import Counts
from holdfast.pipeline.parts.clock import PipelineClock
from holdfast.pipeline.parts.lag import Lag
from holdfast.pipeline.parts.metrics import Metrics
from holdfast.pipeline.parts.ticket import Ticket


class GatePart:
    """Runs a flow's gate. When its place in the group is lost, the process ends."""

    def __init__(
        self,
        session: SparkSession,
        connection: Connection,
        flow: FlowDefinition,
        metrics: Metrics,
        ticket: Ticket,
        clock: PipelineClock,
        watches: Watches,
        *,
        accept_loss: bool = False,
    ) -> None:
        self._flow = flow.name
        self._accept_loss = accept_loss
        self._metrics = metrics
        self._ticket = ticket
        self._clock = clock
        self._jumps = clock.jumps
        self._gate = FlowGate(connection, flow, clock=clock, end=ticket.end, watches=watches)
        self._keeper = Keeper(self._gate)
        self._intake = Intake(lambda: session, self._gate)
        self._lag = Lag(metrics, flow.name, "gate")
        self._counted = Counts()
        self._measured: object = None
        """What the last figures were measured from; None if they change with time."""

    def start(self) -> None:
        self._ticket.take()
        self._gate.start(accept_loss=self._accept_loss)
        self._keeper.start()
        self._intake.start()

    def change(self, flow: FlowDefinition) -> None:
        self._gate.change(flow)

    def failure(self) -> Exception | None:
        return self._intake.failure() or self._keeper.error or self._gate.control_failure

    def settled(self) -> bool:
        return True

    def trouble(self) -> str | None:
        trouble = self._gate.trouble
        if trouble is not None:
            return str(trouble)
        return self._intake.waits_for or self._clock.trouble()

    def measure(self) -> None:
        self._measure_clock()
        gate, ends = self._gate, self._intake.ends()
        now = gate.counts, gate.commits, gate.settings, ends
        if now == self._measured:  # the flow is at rest, as most flows are
            return
        self._measured = None if self._measure_flow(ends) else now

    def _measure_flow(self, ends: dict[int, int]) -> bool:
        """Returns True if there are events to take."""
        self._count(self._gate.counts)
        with self._gate.exclusive() as flow:
            held_keys = sum(len(state.entries) for state in flow.states)
            held_events = sum(state.events for state in flow.states)
            held_bytes = sum(state.bytes for state in flow.states)
            blocked = why_blocked(flow.states, flow.settings) is not None
        self._metrics.held_keys.labels(self._flow).set(held_keys)
        self._metrics.held_events.labels(self._flow).set(held_events)
        self._metrics.held_bytes.labels(self._flow).set(held_bytes)
        self._metrics.blocked.labels(self._flow).set(blocked)
        for seconds, latency in self._intake.take_measured():
            self._metrics.batch_seconds.labels(self._flow, "gate").observe(seconds)
            self._metrics.latency_seconds.labels(self._flow).observe(latency)
        offsets = {p: position.offset for p, position in enumerate(self._gate.positions())}
        return self._lag.measure(offsets, ends)

    def _measure_clock(self) -> None:
        jumps, self._jumps = self._jumps, self._clock.jumps
        self._metrics.clock_jumps.labels(self._flow).inc(self._jumps - jumps)
        ahead = self._clock.ahead_of_broker / 1000
        self._metrics.clock_ahead_of_broker.labels(self._flow).set(ahead)

    def stop(self) -> None:
        self._intake.stop()
        self._keeper.stop()
        self._gate.close()
        self._count(self._gate.counts)

    def _count(self, now: Counts) -> None:
        before, self._counted = self._counted, now
        metrics = self._metrics
        for metric, count in (
            (metrics.events_in, now.taken - before.taken),
            (metrics.events_out, now.passed + now.drained - before.passed - before.drained),
            (metrics.events_held, now.held - before.held),
            (metrics.events_drained, now.drained - before.drained),
            (metrics.events_dead_lettered, now.dead - before.dead),
        ):
            metric.labels(self._flow).inc(count)
