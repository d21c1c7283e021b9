"""Audit: everything that was asked and what came of it."""

from dataclasses import dataclass
from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import APIRouter, Query
from starlette.responses import Response

from holdfast.api.auditing import audit_page
from holdfast.api.key_paths import key_from_path
from holdfast.dashboard.commands import note_of
from holdfast.dashboard.key_name import KeyName
from holdfast.dashboard.looks import Look, outcome_look, pending_look
from holdfast.dashboard.pages.messages import time_of
from holdfast.dashboard.visit import Viewing, Visit
from holdfast.flows.journal import Outcome
from holdfast.views.audit import AuditQuery, AuditRow

_PAGE = 50
COMMANDS = ("hold", "release", "dead-letter", "void")


@dataclass(frozen=True, slots=True)
class AuditLine:
    """One record of control log or journal."""

    row: AuditRow
    key: KeyName | None
    look: Look

    @property
    def note(self) -> str:
        return note_of(self.row)


def add(router: APIRouter) -> None:
    @router.get("/audit")
    async def page(
        visit: Viewing,
        flow: Annotated[str, Query(max_length=100)] = "",
        q: Annotated[str, Query(max_length=500)] = "",
        key: Annotated[str, Query(max_length=100_000)] = "",
        actor: Annotated[str, Query(max_length=200)] = "",
        command: Annotated[str, Query(max_length=20)] = "",
        outcome: Annotated[str, Query(max_length=20)] = "",
        since: Annotated[str, Query(max_length=40)] = "",
        cursor: Annotated[str, Query(max_length=200)] = "",
    ) -> Response:
        flows = [view.name for view in visit.flows()]
        name = flow or (flows[0] if flows else "")
        given = {
            "flow": name, "q": q, "key": key, "actor": actor, "command": command,
            "outcome": outcome, "since": since,
        }  # fmt: skip
        values: dict[str, Any] = {"flow": name, "flows": flows, "given": given}
        values |= {
            "commands": COMMANDS,
            "outcomes": list(Outcome),
            "lines": [],
            "next": "",
            "first": "",
        }
        values |= {"cursor": cursor, "stopped_early": False, "key": None, "stream": visit.live()}
        if name:
            values |= await _lines(visit, name, given, cursor)
        return visit.page("audit.html", here="/audit", **values)


async def _lines(visit: Visit, flow: str, given: dict[str, str], cursor: str) -> dict[str, Any]:
    key = key_from_path(given["key"]) if given["key"] else None
    query = AuditQuery(
        key=key,
        actor=given["actor"],
        command=given["command"],
        outcome=Outcome(given["outcome"]) if given["outcome"] in set(Outcome) else None,
        search=given["q"],
        since=time_of(given["since"]) if given["since"] else None,
        limit=_PAGE,
        cursor=cursor or None,
    )
    found = await audit_page(visit.services, visit.flow(flow), query, visit.actor)
    first = urlencode({name: value for name, value in given.items() if value})
    following = f"{first}&{urlencode({'cursor': found.cursor})}"
    return {
        "first": first,
        "lines": [_line(row) for row in found.rows],
        "next": following if found.cursor else "",
        "stopped_early": found.stopped_early,
        "key": None if key is None else KeyName(key),
    }


def _line(row: AuditRow) -> AuditLine:
    key = None if row.key is None else KeyName(row.key)
    if row.outcome is not None:
        return AuditLine(row, key, outcome_look(row.outcome, row.command))
    if row.log == "control" and row.command:
        return AuditLine(row, key, pending_look(row.command))
    return AuditLine(row, key, outcome_look(Outcome.UNREADABLE))
