"""Lists as files: the rows of a page's filter, from its first page on."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from starlette.responses import Response

from holdfast.control.exports import MOST_ROWS, ExportForm, exported

_TYPES: dict[ExportForm, str] = {"csv": "text/csv; charset=utf-8", "json": "application/json"}
_MOST_BYTES = 32 * 1024 * 1024
"""Rows are collected until they have this size; values may be large."""

Row = Mapping[str, Any]
Page = TypeVar("Page")


def all_rows(
    read: Callable[[str | None], Page], rows_of: Callable[[Page], Sequence[Row]]
) -> Iterator[Row]:
    """The rows of all pages; a page has the `cursor` of the next one."""
    cursor: str | None = None
    while True:
        page = read(cursor)
        yield from rows_of(page)
        cursor = page.cursor  # type: ignore[attr-defined]
        if cursor is None:
            return


def bounded(rows: Iterator[Row]) -> tuple[list[Row], bool]:
    """As many rows as an export has, and whether there are more."""
    kept: list[Row] = []
    size = 0
    for row in rows:
        if len(kept) == MOST_ROWS or size > _MOST_BYTES:
            return kept, True
        kept.append(row)
        size += len(json.dumps(row))
    return kept, False


def download(name: str, rows: Iterator[Row], form: ExportForm) -> Response:
    """A file. Its name says if it has only the first rows of the list."""
    kept, more = bounded(rows)
    file = f"{name}{f'-first-{len(kept)}' if more else ''}.{form}"
    headers = {"Content-Disposition": f'attachment; filename="{file}"'}
    return Response(exported(kept, form), media_type=_TYPES[form], headers=headers)
