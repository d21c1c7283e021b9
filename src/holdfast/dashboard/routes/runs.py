"""Runs: replays, backfills, redrives and audits, how far each is, where they are asked for."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import APIRouter, Form, Query
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from holdfast.api.running import ORDER_CAVEAT, ask_for, masks_of, visible_run
from holdfast.dashboard.forms import keys_of_lines, minutes_ago
from holdfast.dashboard.looks import Look, run_look
from holdfast.dashboard.visit import Operating, Viewing, Visit
from holdfast.errors import InvalidArgumentError
from holdfast.flows.runs import Run
from holdfast.flows.work import Backfill, Coordinate, Quality, Redrive, Replay, Verify, Work

_SHOWN = 100

Text = Annotated[str, Form(max_length=4_000)]
Lines = Annotated[str, Form(max_length=1_000_000)]
Flag = Annotated[bool, Form()]


@dataclass(frozen=True, slots=True)
class RunLine:
    """A run as the pages show it."""

    fields: Mapping[str, Any]
    look: Look
    percent: float | None
    cancelling: bool

    @property
    def open(self) -> bool:
        """It may still change."""
        return self.fields["ended_at"] is None

    @property
    def asked(self) -> str:
        """What was asked for, in a line."""
        asked = self.fields["asked"].items()
        return ", ".join(f"{name}: {_plain(value)}" for name, value in asked) or "everything"

    @property
    def outcome(self) -> list[tuple[str, str]]:
        """What came of it, but for lists, which have tables of their own."""
        result = self.fields["result"].items()
        return [(n.replace("_", " "), _plain(v)) for n, v in result if not isinstance(v, list)]


def add(router: APIRouter) -> None:
    @router.get("/runs")
    def page(visit: Viewing, flow: Annotated[str, Query(max_length=100)] = "") -> Response:
        flows = [view.name for view in visit.flows()]
        return visit.page(
            "runs.html", here="/runs", flow=flow, flows=flows, lines=_lines(visit, flow)
        )

    @router.get("/runs/fragments/list")
    def listing(visit: Viewing, flow: Annotated[str, Query(max_length=100)] = "") -> Response:
        return visit.fragment("runs_list.html", flow=flow, lines=_lines(visit, flow))

    @router.get("/runs/{run}")
    def one(visit: Viewing, run: str) -> Response:
        return visit.page("run.html", here="/runs", line=_line(visit, visit.services.runs.get(run)))

    @router.get("/runs/{run}/fragments/run")
    def part(visit: Viewing, run: str) -> Response:
        return visit.fragment("run_body.html", line=_line(visit, visit.services.runs.get(run)))

    @router.post("/runs/{run}/cancel")
    async def cancel(visit: Operating, run: str) -> Response:
        runs = visit.services.client.runs
        found = await run_in_threadpool(runs.cancel, run, actor=visit.actor.name)
        return visit.fragment("run_body.html", line=_line(visit, found))

    @router.post("/flows/{flow}/replay")
    async def replay(
        visit: Operating,
        flow: str,
        keys: Lines = "",
        minutes: Text = "",
        where: Text = "",
        rate: Text = "",
        dry_run: Flag = False,
    ) -> Response:
        work = Replay(
            keys=tuple(keys_of_lines(keys)),
            since=minutes_ago(minutes, visit.now),
            where=where.strip(),
            rate=_number(rate),
            dry_run=dry_run,
        )
        return await _ask(visit, flow, work)

    @router.post("/flows/{flow}/backfill")
    async def backfill(
        visit: Operating, flow: str, files: Lines = "", key_from: Text = "", time_from: Text = ""
    ) -> Response:
        paths = tuple(line.strip() for line in files.splitlines() if line.strip())
        work = Backfill(files=paths, key_from=key_from.strip(), time_from=time_from.strip())
        return await _ask(visit, flow, work)

    @router.post("/flows/{flow}/redrive")
    async def redrive(
        visit: Operating,
        flow: str,
        letter: Text = "",
        reason: Text = "",
        value: Annotated[str | None, Form()] = None,
        edited: Flag = False,
        again: Flag = False,
    ) -> Response:
        work = Redrive(
            letters=(Coordinate.parse(letter),) if letter else (),
            reason=reason,
            everything=not letter and not reason,
            value=value.encode() if edited and value is not None else None,
            again=again,
        )
        return await _ask(visit, flow, work)

    @router.post("/flows/{flow}/verify")
    async def verify(
        visit: Operating, flow: str, full: Flag = False, without_raw_zone: Flag = False
    ) -> Response:
        return await _ask(visit, flow, Verify(full=full, without_raw_zone=without_raw_zone))

    @router.post("/flows/{flow}/quality")
    async def quality(visit: Operating, flow: str) -> Response:
        return await _ask(visit, flow, Quality())

    @router.get("/flows/{flow}/fragments/redrive")
    def redrive_dialog(
        visit: Operating,
        flow: str,
        letter: Annotated[str, Query(max_length=40)] = "",
        reason: Annotated[str, Query(max_length=500)] = "",
    ) -> Response:
        visit.flow(flow)
        return visit.fragment(
            "redrive.html", flow=flow, letter=letter, reason=reason, caveat=ORDER_CAVEAT
        )


async def _ask(visit: Visit, flow: str, work: Work) -> Response:
    """Ask for the run, and go to its page."""
    run = await ask_for(visit.services, visit.flow(flow).name, work, visit.actor)
    await run_in_threadpool(visit.services.runs.wait_for, run.id)
    return Response(headers={"HX-Redirect": f"/runs/{run.id}"})


def _lines(visit: Visit, flow: str) -> list[RunLine]:
    runs = visit.services.runs.list(flow or None)[:_SHOWN]
    return [_line(visit, run, brief=True) for run in runs]


def _line(visit: Visit, run: Run, *, brief: bool = False) -> RunLine:
    masks = masks_of(visit.services, run.request.flow)
    fraction = run.fraction
    return RunLine(
        visible_run(run, masks, visit.actor, brief=brief),
        run_look(run),
        None if fraction is None else round(100 * fraction, 1),
        run.cancelling,
    )


def _number(text: str) -> float | None:
    try:
        return float(text) if text.strip() else None
    except ValueError:
        raise InvalidArgumentError(f"{text!r} is no number of events a second.") from None


def _plain(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {_plain(each)}" for name, each in value.items())
    if isinstance(value, list):
        return ", ".join(map(_plain, value))
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)
