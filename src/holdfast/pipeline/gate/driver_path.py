"""Small batches: the driver has the rows, and runs the steps of all partitions in one
transaction."""

from collections.abc import Mapping

import pyarrow as pa

from holdfast.errors import GateStoppedError
from holdfast.gate import GateSettings, range_to_take
from holdfast.kafka.fetch import Ranges
from holdfast.pipeline.gate.events import Events, KeySet, rows_of
from holdfast.pipeline.gate.exclusive import ExclusiveFlow
from holdfast.pipeline.gate.flow_gate import FlowGate


class SettingsChangedError(Exception):
    """The rows were validated by a schema that is no more: validate them again."""


class LeaderChangedError(Exception):
    """A partition has another leader than when its rows were read: read them again."""


def take_rows(
    gate: FlowGate,
    ranges: Ranges,
    rows: pa.Table,
    settings: GateSettings,
    epochs: Mapping[int, int],
) -> None:
    """Take the events of the ranges. When this returns, each is committed exactly once, by this
    call or before it.

    `rows` are all visible events of the ranges, of whatever partition, each partition's in the
    order of offsets. They were read before this was called. The control log's end is read after,
    under the lock: so a hold that was acknowledged before an event was sent acts on that event.
    `epochs` are the gate's from before the rows were read.
    """

    def step(flow: ExclusiveFlow) -> None:
        check_batch(flow, ranges, settings)
        context = flow.begin_batch()
        if any(flow.states[p].position.epoch != epochs[p] for p in ranges):
            raise LeaderChangedError
        keys = flow.interest()
        interest = KeySet(keys, keys.prefixes)
        steps = []
        for p, (start, end) in ranges.items():
            share = range_to_take(flow.states[p].position.offset, start, end)
            if share is not None:
                events = Events.of(rows_of(rows, p, *share), interest)
                steps.append(flow.decide_events(p, context, events, end))
        flow.commit(steps)

    gate.run_exclusively(step)


def check_batch(flow: ExclusiveFlow, ranges: Ranges, settings: GateSettings) -> None:
    """Raise an error if the batch was read under other settings, or has partitions that the gate
    does not know: then keys have moved."""
    unknown = [p for p in ranges if not 0 <= p < flow.partitions]
    if unknown:
        raise GateStoppedError(
            f"The gate has stopped: there are events in partition {min(unknown)} of "
            f"{flow.names.events}, but the flow has {flow.partitions}. Keys have moved "
            "between partitions, so their order cannot be kept. Make a new flow with that many."
        )
    if flow.settings is not settings:
        raise SettingsChangedError
