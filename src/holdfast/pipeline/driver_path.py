"""Small batches: the driver has the rows, and runs the steps of all partitions in one
transaction."""

from collections.abc import Collection

import pyarrow as pa

from holdfast.errors import GateStoppedError
from holdfast.gate import GateSettings, KeysOfInterest, range_to_take
from holdfast.pipeline.bulk.reading import Ranges
from holdfast.pipeline.events import Events, KeySet, rows_of
from holdfast.pipeline.flow_gate import FlowGate
from holdfast.pipeline.steps import Prepared, decide_events


class SettingsChangedError(Exception):
    """The rows were validated by a schema that is no more: validate them again."""


def check_ranges(gate: FlowGate, ranges: Ranges) -> None:
    """Partitions that the gate does not know mean that keys have moved."""
    unknown = [p for p in ranges if not 0 <= p < gate.flow.partitions]
    if unknown:
        raise GateStoppedError(
            f"The gate has stopped: there are events in partition {min(unknown)} of "
            f"{gate.names.events}, but the flow has {gate.flow.partitions}. Keys have moved "
            "between partitions, so their order cannot be kept. Make a new flow with that many."
        )


def take_rows(gate: FlowGate, ranges: Ranges, rows: pa.Table, settings: GateSettings) -> None:
    """Take the events of the ranges. When this returns, each is committed exactly once, by this
    call or before it.

    `rows` are all visible events of the ranges, of whatever partition, each partition's in the
    order of offsets. They were read before this was called; that the control log's end is looked
    up after, under the lock, is what makes a hold that was acknowledged before an event was sent
    act on that event.
    """

    def work() -> None:
        check_ranges(gate, ranges)
        if gate.settings is not settings:
            raise SettingsChangedError
        moment = gate.moment()
        interest = KeySet(KeysOfInterest(gate.states, gate.holds))

        def prepare(too_large: Collection[tuple[int, int]]) -> list[Prepared]:
            prepared = []
            for p, (start, end) in ranges.items():
                state = gate.states[p]
                share = range_to_take(state.position.offset, start, end)
                if share is None:
                    continue
                events = Events.of(rows_of(rows, p, *share), interest)
                step = decide_events(
                    state,
                    moment,
                    gate.commands(state),
                    held_end=gate.held_ends[p],
                    end=end,
                    events=events.without({o for q, o in too_large if q == p}),
                )
                prepared.append(step)
            return prepared

        gate.commit(prepare)

    gate.carry_out(work)
