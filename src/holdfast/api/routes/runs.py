"""`/runs`, and the work that a flow can be asked for: replay, backfill, redrive, audits."""

import asyncio
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query
from pydantic import Field

from holdfast.access.roles import Actor
from holdfast.api.models import (
    Body,
    GivenKey,
    GivenTime,
    Model,
    Moment,
    example,
    given_key,
    milliseconds,
    moment,
)
from holdfast.api.parameters import Operator, ServicesOf, View, Viewer
from holdfast.api.problems import problems
from holdfast.api.running import ORDER_CAVEAT, ask_for, masks_of, visible_run
from holdfast.api.services import Services
from holdfast.flows.keys import key_from_base64
from holdfast.flows.runs import Run, RunState
from holdfast.flows.work import (
    MAX_DAYS,
    MAX_FILTER,
    MAX_RATE,
    Backfill,
    Coordinate,
    OffsetRange,
    Quality,
    Redrive,
    Replay,
    Verify,
    Work,
    parse_json_filter,
)

router = APIRouter(tags=["runs"])

_LISTED = 1_000
_RunPath = Annotated[str, Path(max_length=64, description="The run's id.")]
_Ranges = Annotated[
    list[str],
    Field(
        max_length=_LISTED,
        description="`partition:start-end`; the end is not taken, and may be left out.",
        examples=[["0:1000-2000"]],
    ),
]
_Keys = Annotated[list[GivenKey], Field(max_length=_LISTED)]
_Id = Annotated[
    str | None,
    Field(
        pattern=r"^[A-Za-z0-9_.-]{1,64}$",
        description="The same id twice is one run. A new one unless given.",
    ),
]


class ReplayBody(Body):
    """All that is given must hold of an event; nothing means all events of the raw zone."""

    model_config = example(keys=["customer-7"], rate=500, dry_run=True)

    offsets: _Ranges = Field(default_factory=list)
    since: GivenTime | None = Field(default=None, description="Events of this time and later.")
    until: GivenTime | None = Field(default=None, description="Events before this time.")
    keys: _Keys = Field(default_factory=list)
    where: str = Field(
        default="",
        max_length=MAX_FILTER,
        description="A Spark SQL filter over key, value, headers, timestamp, partition, offset.",
        examples=["get_json_object(value, '$.amount') > 100"],
    )
    json_filters: list[str] = Field(
        default=[], max_length=100, description="`path=text`.", examples=[["$.status=failed"]]
    )
    rate: float | None = Field(
        default=None, gt=0, le=MAX_RATE, description="Most events a second, of the whole run."
    )
    with_replayed: bool = Field(default=False, description="Also events of earlier replays.")
    dry_run: bool = Field(default=False, description="Only say what would be sent.")
    id: _Id = None

    def work(self) -> Replay:
        return Replay(
            offsets=tuple(map(OffsetRange.parse, self.offsets)),
            since=milliseconds(self.since),
            until=milliseconds(self.until),
            keys=tuple(map(given_key, self.keys)),
            where=self.where,
            json=tuple(map(parse_json_filter, self.json_filters)),
            rate=self.rate,
            replayed=self.with_replayed,
            dry_run=self.dry_run,
        )


class BackfillBody(Body):
    """A range of the topic (all that it still has, unless given), or files."""

    model_config = example(offsets=["0:1000-2000"])

    offsets: _Ranges = Field(default_factory=list)
    since: GivenTime | None = None
    until: GivenTime | None = None
    files: list[Annotated[str, Field(max_length=1_000)]] = Field(
        default=[], max_length=_LISTED,
        description="Parquet or JSON lines, as the pipeline sees them; patterns are fine.",
    )  # fmt: skip
    key_from: str = Field(default="", max_length=1_000, description="A column, or a JSON path.")
    time_from: str = Field(default="", max_length=1_000, description="A column, or a JSON path.")
    id: _Id = None

    def work(self) -> Backfill:
        return Backfill(
            offsets=tuple(map(OffsetRange.parse, self.offsets)),
            since=milliseconds(self.since),
            until=milliseconds(self.until),
            files=tuple(self.files),
            key_from=self.key_from,
            time_from=self.time_from,
        )


class RedriveBody(Body):
    """Which dead letters: by place, reason or keys, all of which must hold; or all of them."""

    model_config = example(letters=["2:41"], value='{"amount":12}')

    letters: list[str] = Field(
        default=[], max_length=_LISTED, description="`partition:offset`.", examples=[["2:41"]]
    )
    reason: str = Field(default="", max_length=500, examples=["invalid"])
    keys: _Keys = Field(default_factory=list)
    everything: bool = False
    value: str | None = Field(
        default=None, max_length=512 * 1024, description="Another value for the one letter."
    )
    value_base64: str | None = Field(
        default=None, max_length=1024 * 1024, description="The same, of bytes that are no text."
    )
    again: bool = Field(default=False, description="Also letters that were redriven before.")
    id: _Id = None

    def work(self) -> Redrive:
        value = None if self.value is None else self.value.encode()
        if self.value_base64 is not None:
            value = key_from_base64(self.value_base64)
        return Redrive(
            letters=tuple(map(Coordinate.parse, self.letters)),
            reason=self.reason,
            keys=tuple(map(given_key, self.keys)),
            everything=self.everything,
            value=value,
            again=self.again,
        )


class VerificationBody(Body):
    """How much is looked at: what has come since it was verified last, unless something is given.
    With times, nothing is remembered."""

    model_config = example(full=True)

    full: bool = Field(default=False, description="From the first event on.")
    since: GivenTime | None = Field(default=None, description="Events of this time and later.")
    until: GivenTime | None = Field(default=None, description="Events before this time.")
    without_raw_zone: bool = False
    id: _Id = None

    def work(self) -> Verify:
        return Verify(
            full=self.full,
            since=milliseconds(self.since),
            until=milliseconds(self.until),
            without_raw_zone=self.without_raw_zone,
        )


class QualityBody(Body):
    """Which events are looked at: all, unless given."""

    model_config = example(days=7)

    days: int | None = Field(
        default=None, ge=1, le=MAX_DAYS, description="Only events of so many days."
    )
    id: _Id = None

    def work(self) -> Quality:
        return Quality(days=self.days)


class RunOut(Model):
    """A replay, a backfill, a redrive or an audit: who asked for what, how far it is, what came of
    it."""

    run: str = Field(examples=["replay-6e52f181ab03"])
    work: str = Field(examples=["replay"])
    flow: str
    state: RunState
    actor: str
    asked: dict[str, Any] = Field(description="What was asked for, without what was left out.")
    requested_at: Moment | None
    cancelled_by: str | None = Field(description="Who has asked for it to end.")
    started_at: Moment | None
    updated_at: Moment | None
    ended_at: Moment | None
    done: int
    total: int | None = Field(description="Null as long as it is not known.")
    unit: str = Field(description="What is counted.", examples=["events"])
    rate: float = Field(description="A second, lately.")
    seconds_left: float | None
    note: str = Field(description="What it waits for; of a failure, why.")
    result: dict[str, Any]


class RunsOut(Model):
    runs: list[RunOut] = Field(description="The newest first.")


@router.post(
    "/flows/{flow}/replays", status_code=202, summary="Replay", responses=problems(404, 409)
)
async def replay(actor: Operator, view: View, body: ReplayBody, services: ServicesOf) -> RunOut:
    """Sends events of the raw zone through the flow again, so that holds apply to them: what is
    there when the run begins, each event once, in the order of its key."""
    return await _ask(services, view, body.work(), body.id, actor)


@router.post(
    "/flows/{flow}/backfills", status_code=202, summary="Backfill", responses=problems(404, 409)
)
async def backfill(actor: Operator, view: View, body: BackfillBody, services: ServicesOf) -> RunOut:
    """Lands events in the raw zone that are missing there. What is there is not landed again.
    Files need the role admin: a backfill reads any that the pipeline can read."""
    return await _ask(services, view, body.work(), body.id, actor)


@router.post(
    "/flows/{flow}/redrives",
    status_code=202,
    summary="Redrive dead letters",
    description=f"Sends dead letters through the flow again, each once. {ORDER_CAVEAT} One that "
    "fails again comes back with its attempt counted (`holdfast-attempt`). One that was redriven "
    "before is left alone unless `again` is given.",
    responses=problems(404, 409),
)
async def redrive(actor: Operator, view: View, body: RedriveBody, services: ServicesOf) -> RunOut:
    return await _ask(services, view, body.work(), body.id, actor)


@router.post(
    "/flows/{flow}/verifications", status_code=202, summary="Verify", responses=problems(404, 409)
)
async def verify(
    actor: Operator, view: View, body: VerificationBody, services: ServicesOf
) -> RunOut:
    """Accounts for every event: each in exactly one place, each key in order, holds honoured, the
    raw zone complete, every command answered. `result.passed` is the verdict; `result.checks` has
    what speaks against it, with the coordinates."""
    return await _ask(services, view, body.work(), body.id, actor)


@router.post(
    "/flows/{flow}/quality", status_code=202, summary="Check quality", responses=problems(404, 409)
)
async def check_quality(
    actor: Operator, view: View, body: QualityBody, services: ServicesOf
) -> RunOut:
    """Runs the checks that the flow declares over its events in the raw zone. `result.passed` is
    the verdict; the report is then the one that GET gives."""
    return await _ask(services, view, body.work(), body.id, actor)


@router.get("/runs", summary="List runs")
def list_runs(
    services: ServicesOf,
    actor: Viewer,
    flow: Annotated[str | None, Query(max_length=100)] = None,
    limit: Annotated[int, Query(ge=1, le=_LISTED)] = 100,
) -> RunsOut:
    """Those that go on and those that have ended; what a result lists one by one is left out."""
    runs = services.runs.list(flow)[:limit]
    return RunsOut(runs=[_out(services, run, actor, brief=True) for run in runs])


@router.get("/runs/{run}", summary="One run", responses=problems(404))
def show_run(run: _RunPath, services: ServicesOf, actor: Viewer) -> RunOut:
    """How far it is, and what came of it."""
    return _out(services, services.runs.get(run), actor)


@router.post("/runs/{run}/cancel", status_code=202, summary="Cancel a run", responses=problems(404))
async def cancel_run(actor: Operator, run: _RunPath, services: ServicesOf) -> RunOut:
    """Ends it where it is; what it has done stays done. One that has ended stays as it is."""
    found = await asyncio.to_thread(services.client.runs.cancel, run, actor=actor.name)
    return _out(services, found, actor)


async def _ask(
    services: Services, view: View, work: Work, run_id: str | None, actor: Actor
) -> RunOut:
    run = await ask_for(services, view.name, work, actor, run_id)
    return _out(services, run, actor)


def _out(services: Services, run: Run, actor: Actor, *, brief: bool = False) -> RunOut:
    fields = visible_run(run, masks_of(services, run.request.flow), actor, brief=brief)
    times = {name: moment(at) for name, at in fields.items() if name.endswith("_at")}
    return RunOut(**{**fields, **times, "state": run.state})
