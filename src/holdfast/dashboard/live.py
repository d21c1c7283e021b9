"""One stream of server-sent events for one page: what to fetch anew, and what runs in its lanes.

A browser gives a site six connections, so a page has one, whatever it shows. It carries no state:
changes only say which parts are old, a few times a second at most, and the page asks for those. So
nothing can be missed, and a page that was away fetches everything once.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import Any

from starlette.responses import StreamingResponse

from holdfast.access.roles import Actor
from holdfast.api.browsing import Seen, TopicRole, topic_of
from holdfast.api.services import Services
from holdfast.api.tailing import Sampling
from holdfast.dashboard.lanes import LANE_ROWS, LANES, lane_row
from holdfast.views.changes import Batch, Change, ChangeKind, Changes
from holdfast.views.flow_view import FlowView
from holdfast.views.series import Sample

PACE_S = 0.25
"""Between two events of a stream: quicker than that is only flicker."""
_SILENCE_S = 10.0
"""Something is said at least so often, so that both ends notice when the other is gone."""
_QUEUE = 8

_DRAIN_WINDOW = 6
"""Samples from which the drain's rate is told."""

Wanted = Callable[[Change], bool]
_News = tuple[str, Batch]


def stream(events: AsyncIterator[str]) -> StreamingResponse:
    """The events as an answer that proxies leave as it is."""
    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    return StreamingResponse(events, media_type="text/event-stream", headers=headers)


def live_address(path: str, changes: Changes) -> str:
    """The address of a stream that begins where the page that is being made stands: take it before
    anything is looked at, and no change falls between the page and its stream."""
    return f"{path}?after={changes.place(changes.last)}"


async def changes_of(
    changes: Changes, after: str, wanted: Wanted = lambda _: True
) -> AsyncIterator[str]:
    """Which kinds of things have changed since that place."""
    sources = [_Source("", changes, changes.number_of(after))]
    async for said in _told(sources, lambda _, batch: _changed(batch, wanted)):
        yield said


async def flow_with_lanes(
    services: Services, view: FlowView, actor: Actor, after: str
) -> AsyncIterator[str]:
    """A flow's changes and rates, and what runs in its three lanes, from the latest records on."""
    definition = view.definition
    async with AsyncExitStack() as stack:

        async def lane_source(lane: TopicRole) -> _Source:
            topic, partitions = topic_of(view.names, lane), range(definition.partitions)
            tail = services.tails.follow(topic, partitions, definition.masks, actor)
            changes = await stack.enter_async_context(tail)
            return _Source(lane, changes, max(0, changes.last - LANE_ROWS))

        lanes = await asyncio.gather(*map(lane_source, LANES))
        begun: set[str] = set()

        def words(lane: str, batch: Batch) -> list[str]:
            if not lane:
                return [*_changed(batch), *_rates(view, batch)]
            told = _tailed(view, lane, batch, first=lane not in begun)
            if any(change.kind is ChangeKind.RECORD for change in batch.changes):
                begun.add(lane)
            return told

        sources = [_Source("", view.changes, view.changes.number_of(after)), *lanes]

        async for said in _told(sources, words):
            yield said


@dataclass(frozen=True, slots=True)
class _Source:
    """A ring of changes, from a number on; from now on if there is none."""

    name: str
    changes: Changes
    after: int | None = None


async def _told(
    sources: Sequence[_Source], words: Callable[[str, Batch], list[str]]
) -> AsyncIterator[str]:
    """Events from several rings, in turn, at a pace."""
    queue: asyncio.Queue[_News] = asyncio.Queue(_QUEUE)

    async def pump(source: _Source) -> None:
        with source.changes.subscribe(source.after) as reader:
            while True:
                batch = await reader.next(_SILENCE_S)
                if batch.changes or batch.reset:
                    await queue.put((source.name, batch))
                    await asyncio.sleep(PACE_S)  # what comes meanwhile is in the next batch

    yield event("hello", "{}")
    async with asyncio.TaskGroup() as group:
        pumps = [group.create_task(pump(source)) for source in sources]
        try:
            while True:
                try:
                    name, batch = await asyncio.wait_for(queue.get(), _SILENCE_S)
                except TimeoutError:
                    yield event("still-here", "{}")
                    continue
                for said in words(name, batch):
                    yield said
        finally:
            for task in pumps:
                task.cancel()


def event(name: str, data: str) -> str:
    """One event of a stream; `data` is JSON, which has no line breaks."""
    return f"event: {name}\ndata: {data}\n\n"


def _changed(batch: Batch, wanted: Wanted = lambda _: True) -> list[str]:
    kinds = {change.kind.value for change in batch.changes if wanted(change)}
    if batch.reset:
        kinds = {kind.value for kind in ChangeKind}
    return [event("changed", _json(sorted(kinds)))] if kinds else []


def _rates(view: FlowView, batch: Batch) -> list[str]:
    if not any(change.kind is ChangeKind.RATES for change in batch.changes):
        return []
    samples = view.series.samples()[-_DRAIN_WINDOW:]
    if not samples:
        return []
    last = samples[-1]
    told = {
        "in": round(last.incoming, 1),
        "out": round(last.outgoing, 1),
        "held": round(last.held, 1),
        "drained": round(drain_rate(samples), 1),
        "held_keys": last.held_keys,
        "held_events": last.held_events,
        "held_bytes": last.held_bytes,
    }
    return [event("rates", _json(told))]


def drain_rate(samples: Sequence[Sample]) -> float:
    """Events a second that have left held: what was added, less what it has grown by."""
    if len(samples) < 2:
        return 0.0
    seconds = max(0.001, (samples[-1].at - samples[0].at) / 1000)
    added = sum(sample.held for sample in samples[1:]) * seconds / (len(samples) - 1)
    grown = samples[-1].held_events - samples[0].held_events
    return max(0.0, (added - grown) / seconds)


def _tailed(view: FlowView, lane: str, batch: Batch, *, first: bool) -> list[str]:
    """New rows of a lane. The first ones stand in place of what the page has there."""
    items: Iterable[Any] = [change.item for change in batch.changes]
    records = [item for item in items if isinstance(item, Seen)]
    samplings = [item for item in items if isinstance(item, Sampling)]
    told = []
    if records:
        rows = [lane_row(view, lane, seen) for seen in records[-LANE_ROWS:]]
        told.append(event("tail", _json({"lane": lane, "rows": rows, "first": first})))
    if samplings:
        arrived = sum(sampling.arrived for sampling in samplings)
        shown = sum(sampling.shown for sampling in samplings)
        told.append(event("sampled", _json({"lane": lane, "arrived": arrived, "shown": shown})))
    return told


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
