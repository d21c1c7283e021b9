"""Find a key in any flow: those on hold that match, and the key of that very name anywhere."""

from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Query
from starlette.responses import Response

from holdfast.dashboard.key_name import KeyName
from holdfast.dashboard.pages.flow import KeyFilter, KeyLine, key_lines
from holdfast.dashboard.visit import Viewing
from holdfast.flows.keys import key_bytes

_SHOWN = 10


@dataclass(frozen=True, slots=True)
class FoundIn:
    """What one flow has."""

    flow: str
    lines: tuple[KeyLine, ...]
    total: int


def add(router: APIRouter) -> None:
    @router.get("/find")
    def page(visit: Viewing, q: Annotated[str, Query(max_length=500)] = "") -> Response:
        query = KeyFilter(search=q).query(limit=_SHOWN)
        found = []
        for view in visit.flows() if q else ():
            keys = view.keys(query)
            found.append(FoundIn(view.name, key_lines(view, keys.rows), keys.total))
        exact = KeyName(key_bytes(q)) if q else None
        return visit.page("find.html", here="", q=q, found=found, exact=exact)
