"""The stream of server-sent events of a page: which parts to reload, and the rows of its lanes.

A browser allows a site six connections, so a page uses one. The stream carries no state: it only
names the parts that have changed, a few times a second at most, and the page reloads those. So no
change is missed, and a page that was offline reloads everything once.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import Any

from holdfast.access.roles import Actor
from holdfast.clock import now_ms
from holdfast.control.event_stream import event
from holdfast.control.live_tail import Sampling
from holdfast.control.records import Seen, TopicRole, topic_of
from holdfast.control.services import Services
from holdfast.dashboard.lanes import LANE_ROWS, LANES, lane_row
from holdfast.views.changes import Batch, Change, ChangeKind, Changes
from holdfast.views.flow_view import FlowView
from holdfast.views.series import Sample
from holdfast.views.views import Views

PACE_SECONDS = 0.25
"""Between two events of a stream: faster would only flicker."""
_AS_OF_SECONDS = 1.0
"""Interval of the event `as-of`. A page without one for five seconds shows that it is stale."""
_SILENCE_SECONDS = 10.0
_QUEUE = 8

_DRAIN_WINDOW = 6
"""Samples from which the drain rate is computed."""

Wanted = Callable[[Change], bool]
_SourceBatch = tuple[str, Batch]


def live_address(path: str, changes: Changes) -> str:
    """The address of a stream that starts where the page starts. Take it before you read anything
    else: then no change falls between the page and its stream."""
    return f"{path}?after={changes.event_id(changes.last)}"


async def changes_of(
    views: Views,
    changes: Changes,
    after: str,
    shown: Sequence[FlowView],
    wanted: Wanted = lambda _: True,
) -> AsyncIterator[bytes]:
    """The kinds of changes since that number. `shown`: the flows of the page."""
    sources = [_Source("", changes, changes.number_of(after))]
    async for each in _events(sources, views, shown, lambda _, batch: _changed(batch, wanted)):
        yield each


async def flow_with_lanes(
    services: Services, view: FlowView, actor: Actor, after: str
) -> AsyncIterator[bytes]:
    """A flow's changes and rates, and the rows of its three lanes, from the newest records on."""
    definition = view.definition
    async with AsyncExitStack() as stack:

        async def lane_source(lane: TopicRole) -> _Source:
            topic, partitions = topic_of(view.names, lane), range(definition.partitions)
            tail = services.tails.follow(topic, partitions, definition.masks, actor)
            changes = await stack.enter_async_context(tail)
            return _Source(lane, changes, max(0, changes.last - LANE_ROWS))

        lanes = await asyncio.gather(*map(lane_source, LANES))
        begun: set[str] = set()

        def encode(lane: str, batch: Batch) -> list[bytes]:
            if not lane:
                return [*_changed(batch), *_rates(view, batch)]
            events = _tailed(view, lane, batch, first=lane not in begun)
            if any(change.kind is ChangeKind.RECORD for change in batch.changes):
                begun.add(lane)
            return events

        sources = [_Source("", view.changes, view.changes.number_of(after)), *lanes]

        async for each in _events(sources, services.views, [view], encode):
            yield each


@dataclass(frozen=True, slots=True)
class _Source:
    """A ring of changes after a number; without one, from now on."""

    name: str
    changes: Changes
    after: int | None = None


async def _events(
    sources: Sequence[_Source],
    views: Views,
    shown: Sequence[FlowView],
    encode: Callable[[str, Batch], list[bytes]],
) -> AsyncIterator[bytes]:
    """Events from several rings, in turn, at a steady pace; and the time of the data."""
    queue: asyncio.Queue[_SourceBatch] = asyncio.Queue(_QUEUE)

    async def pump(source: _Source) -> None:
        with source.changes.subscribe(source.after) as reader:
            while True:
                batch = await reader.next(_SILENCE_SECONDS)
                if batch.changes or batch.reset:
                    await queue.put((source.name, batch))
                    await asyncio.sleep(PACE_SECONDS)  # changes that come now are in the next batch

    yield event("hello", b"{}")
    told = 0.0
    async with asyncio.TaskGroup() as group:
        pumps = [group.create_task(pump(source)) for source in sources]
        try:
            while True:
                now = asyncio.get_running_loop().time()
                if now >= told + _AS_OF_SECONDS:
                    told = now
                    yield event("as-of", _json(_as_of(views, shown)))
                try:
                    name, batch = await asyncio.wait_for(queue.get(), _AS_OF_SECONDS)
                except TimeoutError:
                    continue
                for each in encode(name, batch):
                    yield each
        finally:
            for task in pumps:
                task.cancel()


def _as_of(views: Views, shown: Sequence[FlowView]) -> dict[str, int | str]:
    """The time of the newest data, how old it is, and why: a broker that does not answer leaves it
    old, while this process goes on."""
    now, standstill = now_ms(), views.standstill
    if standstill is not None:
        return {"at": standstill.since, "age": standstill.age_ms, "why": standstill.why}
    samples = [view.series.last for view in shown]
    newest = max((sample.at for sample in samples if sample is not None), default=now)
    return {"at": newest, "age": max(0, now - newest), "why": ""}


def _changed(batch: Batch, wanted: Wanted = lambda _: True) -> list[bytes]:
    kinds = {change.kind.value for change in batch.changes if wanted(change)}
    if batch.reset:
        kinds = {kind.value for kind in ChangeKind}
    return [event("changed", _json(sorted(kinds)))] if kinds else []


def _rates(view: FlowView, batch: Batch) -> list[bytes]:
    if not any(change.kind is ChangeKind.RATES for change in batch.changes):
        return []
    samples = view.series.samples()[-_DRAIN_WINDOW:]
    if not samples:
        return []
    last = samples[-1]
    rates = {
        "in": round(last.incoming, 1),
        "out": round(last.outgoing, 1),
        "held": round(last.held, 1),
        "drained": round(drain_rate(samples), 1),
        "held_keys": last.held_keys,
        "held_events": last.held_events,
        "held_bytes": last.held_bytes,
    }
    return [event("rates", _json(rates))]


def drain_rate(samples: Sequence[Sample]) -> float:
    """Events per second that have left held: those added, minus the growth."""
    if len(samples) < 2:
        return 0.0
    seconds = max(0.001, (samples[-1].at - samples[0].at) / 1000)
    added = sum(sample.held for sample in samples[1:]) * seconds / (len(samples) - 1)
    grown = samples[-1].held_events - samples[0].held_events
    return max(0.0, (added - grown) / seconds)


def _tailed(view: FlowView, lane: str, batch: Batch, *, first: bool) -> list[bytes]:
    """New rows of a lane. The first ones replace the rows of the page."""
    items: Iterable[Any] = [change.item for change in batch.changes]
    records = [item for item in items if isinstance(item, Seen)]
    samplings = [item for item in items if isinstance(item, Sampling)]
    events = []
    if records:
        rows = [lane_row(view, lane, seen) for seen in records[-LANE_ROWS:]]
        events.append(event("tail", _json({"lane": lane, "rows": rows, "first": first})))
    if samplings:
        arrived = sum(sampling.arrived for sampling in samplings)
        shown = sum(sampling.shown for sampling in samplings)
        events.append(event("sampled", _json({"lane": lane, "arrived": arrived, "shown": shown})))
    return events


def _json(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
