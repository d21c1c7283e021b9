"""`/runs`, and the runs of a flow: replay, backfill, redrive, audits, refresh."""

import asyncio
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query
from pydantic import Field

from holdfast.access.roles import Actor
from holdfast.api.models import Model, Moment, example
from holdfast.api.parameters import Operator, ServicesOf, View, Viewer
from holdfast.api.run_bodies import Requested, body_of
from holdfast.control.problems import problems
from holdfast.control.runs import masks_of, request_run, visible_run
from holdfast.control.services import Services
from holdfast.flows.run_specs import (
    ORDER_CAVEAT,
    Backfill,
    Quality,
    Redrive,
    Refresh,
    Replay,
    Verify,
)
from holdfast.flows.runs import Run, RunState

router = APIRouter(tags=["runs"])

_LISTED = 1_000
_RunPath = Annotated[str, Path(max_length=64, description="The run's id.")]


class RunOut(Model):
    """A replay, backfill, redrive, audit or refresh: its request, its progress, its result."""

    run: str = Field(examples=["replay-6e52f181ab03"])
    kind: str = Field(examples=["replay"])
    flow: str
    state: RunState
    actor: str
    options: dict[str, Any] = Field(description="The given options of the request.")
    requested_at: Moment
    cancelled_by: str | None = Field(description="Who cancelled it.")
    started_at: Moment
    updated_at: Moment
    ended_at: Moment
    done: int
    total: int | None = Field(description="Null until it is known.")
    unit: str = Field(description="What is counted.", examples=["events"])
    rate: float = Field(description="Events a second, recently.")
    seconds_left: float | None
    note: str = Field(description="What it waits for; of a failure, why.")
    result: dict[str, Any]


class RunsOut(Model):
    runs: list[RunOut] = Field(description="The newest first.")


@router.post(
    "/flows/{flow}/replays", status_code=202, summary="Replay", responses=problems(404, 409)
)
async def replay(
    actor: Operator,
    view: View,
    services: ServicesOf,
    request: Annotated[
        Requested, body_of(Replay, example(keys=["customer-7"], rate=500, dry_run=True))
    ],
) -> RunOut:
    """Sends events of the raw zone through the flow again, so that holds apply to them: all that
    exist when the run begins and match all conditions, each event once, in the order of its key."""
    return await _request(services, view, request, actor)


@router.post(
    "/flows/{flow}/backfills", status_code=202, summary="Backfill", responses=problems(404, 409)
)
async def backfill(
    actor: Operator,
    view: View,
    services: ServicesOf,
    request: Annotated[Requested, body_of(Backfill, example(offsets=["0:1000-2000"]))],
) -> RunOut:
    """Lands events that are missing in the raw zone, from a range of the topic (by default all that
    it has) or from files. Existing ones are not landed again. Files need the role admin: a backfill
    can read any file that the pipeline can read."""
    return await _request(services, view, request, actor)


@router.post(
    "/flows/{flow}/redrives",
    status_code=202,
    summary="Redrive dead letters",
    description="Sends dead letters through the flow again, each once: those with all of the given "
    f"coordinates, reason and keys, or all letters. {ORDER_CAVEAT} One that "
    "fails again comes back with its attempt counted (`holdfast-attempt`). One that was redriven "
    "before is left alone unless `again` is given.",
    responses=problems(404, 409),
)
async def redrive(
    actor: Operator,
    view: View,
    services: ServicesOf,
    request: Annotated[
        Requested, body_of(Redrive, example(letters=["2:41"], value='{"amount":12}'))
    ],
) -> RunOut:
    return await _request(services, view, request, actor)


@router.post(
    "/flows/{flow}/verifications", status_code=202, summary="Verify", responses=problems(404, 409)
)
async def verify(
    actor: Operator,
    view: View,
    services: ServicesOf,
    request: Annotated[Requested, body_of(Verify, example(full=True))],
) -> RunOut:
    """Accounts for every event: each in exactly one place and unchanged, each key in order, holds
    honoured, every dead letter with a cause, the raw zone complete, every command answered.
    By default it continues after the last verified event. With times, the result is not remembered.
    `result.verdict` is `clean`, `not clean`, `incomplete` (the raw zone or a log was empty where
    events exist) or `nothing to check`; `result.passed` is true only if it is clean.
    `result.checks` has the faults with their coordinates; `result.not_checked` lists the parts
    that were not checked."""
    return await _request(services, view, request, actor)


@router.post(
    "/flows/{flow}/quality", status_code=202, summary="Check quality", responses=problems(404, 409)
)
async def check_quality(
    actor: Operator,
    view: View,
    services: ServicesOf,
    request: Annotated[Requested, body_of(Quality, example(days=7))],
) -> RunOut:
    """Runs the checks that the flow declares over its events in the raw zone. `result.passed` is
    the verdict; GET then returns the report."""
    return await _request(services, view, request, actor)


@router.post(
    "/flows/{flow}/refreshes",
    status_code=202,
    summary="Refresh tables",
    responses=problems(404, 409),
)
async def refresh(
    actor: Operator,
    view: View,
    services: ServicesOf,
    request: Annotated[Requested, body_of(Refresh, example(rebuild=False))],
) -> RunOut:
    """Moves newly landed events into the flow's silver table, and from there into gold. No event is
    added twice. `result` has the rows that were `added` and `quarantined`, the `rows` of silver,
    and the rows of each table of `gold`. A flow without a schema has no silver table: its run
    fails."""
    return await _request(services, view, request, actor)


@router.get("/runs", summary="List runs")
def list_runs(
    services: ServicesOf,
    actor: Viewer,
    flow: Annotated[str | None, Query(max_length=100)] = None,
    limit: Annotated[int, Query(ge=1, le=_LISTED)] = 100,
) -> RunsOut:
    """Open and ended runs, without the lists in their results."""
    runs = services.runs.list(flow)[:limit]
    return RunsOut(runs=[_out(services, run, actor, brief=True) for run in runs])


@router.get("/runs/{run}", summary="One run", responses=problems(404))
def show_run(run: _RunPath, services: ServicesOf, actor: Viewer) -> RunOut:
    """Its progress and its result."""
    return _out(services, services.runs.get(run), actor)


@router.post("/runs/{run}/cancel", status_code=202, summary="Cancel a run", responses=problems(404))
async def cancel_run(actor: Operator, run: _RunPath, services: ServicesOf) -> RunOut:
    """Ends it where it is; finished work stays done. A run that has ended is not changed."""
    cancelled = await asyncio.to_thread(services.client.runs.cancel, run, actor=actor.signature)
    return _out(services, cancelled, actor)


async def _request(services: Services, view: View, request: Requested, actor: Actor) -> RunOut:
    run = await request_run(services, view.name, request.spec, actor, request.id)
    return _out(services, run, actor)


def _out(services: Services, run: Run, actor: Actor, *, brief: bool = False) -> RunOut:
    fields = visible_run(run, masks_of(services, run.request.flow), actor, brief=brief)
    return RunOut(**{**fields, "state": run.state})
