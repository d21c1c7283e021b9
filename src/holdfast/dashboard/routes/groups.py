"""Consumer groups, and how far behind they are."""

from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Query
from starlette.responses import Response

from holdfast.client.groups import Group, Groups
from holdfast.dashboard.visit import Viewing, Visit
from holdfast.errors import HoldfastError

_MOST = 100
"""Groups that are looked at in one go."""


@dataclass(frozen=True, slots=True)
class GroupLine:
    """One group of the list; without details where they could not be had."""

    name: str
    state: str
    group: Group | None
    trouble: str = ""

    @property
    def topics(self) -> tuple[str, ...]:
        return tuple(sorted({lag.topic for lag in self.group.lag})) if self.group else ()

    @property
    def seconds(self) -> float | None:
        """The age of the oldest record that is not committed."""
        known = [lag.seconds for lag in self.group.lag if lag.seconds] if self.group else []
        return max(known, default=None)


def add(router: APIRouter) -> None:
    @router.get("/groups")
    def page(visit: Viewing, flow: Annotated[str, Query(max_length=100)] = "") -> Response:
        flows = [view.name for view in visit.flows()]
        return visit.page(
            "groups.html",
            here="/groups",
            flow=flow,
            flows=flows,
            charted=[flow] if flow in flows else flows,
            lines=_lines(visit, flow),
            stream=visit.live(),
        )

    @router.get("/groups/fragments/list")
    def listing(visit: Viewing, flow: Annotated[str, Query(max_length=100)] = "") -> Response:
        return visit.fragment("groups_list.html", flow=flow, lines=_lines(visit, flow))

    @router.get("/groups/{group}")
    def one(visit: Viewing, group: str) -> Response:
        found = Groups(visit.services.connection).describe(group)
        return visit.page("group.html", here="/groups", group=found)

    @router.get("/groups/{group}/fragments/group")
    def part(visit: Viewing, group: str) -> Response:
        found = Groups(visit.services.connection).describe(group)
        return visit.fragment("group_body.html", group=found)

    @router.get("/flows/{flow}/fragments/series.json")
    def series(visit: Viewing, flow: str) -> dict[str, list[float]]:
        samples = visit.flow(flow).series.samples()
        return {
            "at": [sample.at / 1000 for sample in samples],
            "in": [sample.incoming for sample in samples],
            "out": [sample.outgoing for sample in samples],
            "held": [sample.held_events for sample in samples],
            "lag": [sample.lag for sample in samples],
        }


def _lines(visit: Visit, flow: str) -> list[GroupLine]:
    groups = Groups(visit.services.connection)
    lines = []
    for listed in sorted(groups.list(), key=lambda one: one.name)[:_MOST]:
        try:
            line = GroupLine(listed.name, listed.state, groups.describe(listed.name))
        except HoldfastError as error:  # gone in this moment, or its coordinator is away
            line = GroupLine(listed.name, listed.state, None, str(error))
        if not flow or any(topic.startswith(f"{flow}.") for topic in line.topics):
            lines.append(line)
    return sorted(lines, key=lambda line: -(line.group.total_lag if line.group else 0))
