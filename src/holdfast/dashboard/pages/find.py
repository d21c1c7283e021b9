"""The keys of each flow that match a search."""

from collections.abc import Iterator
from dataclasses import dataclass

from holdfast.dashboard.page_request import PageRequest
from holdfast.dashboard.pages.flow import KeyFilter, KeyLine, key_lines

_SHOWN = 10


@dataclass(frozen=True, slots=True)
class FoundIn:
    """The matches in one flow."""

    flow: str
    lines: tuple[KeyLine, ...]
    total: int


def find_keys(request: PageRequest, text: str) -> Iterator[FoundIn]:
    """The held keys of each flow that match."""
    query = KeyFilter(search=text).query(limit=_SHOWN)
    for view in request.flows():
        page = view.keys(query)
        yield FoundIn(view.name, key_lines(view, page.rows), page.total)
