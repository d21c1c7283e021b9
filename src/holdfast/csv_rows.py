"""Rows as CSV that no spreadsheet runs."""

import csv
import io
from collections.abc import Iterable, Mapping
from typing import Any

_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def csv_text(rows: Iterable[Mapping[str, Any]]) -> str:
    """CSV with a head. A spreadsheet would run a cell that begins as a formula does, and keys and
    values are anybody's: such a cell gets an apostrophe in front.

    >>> csv_text([{"key": "=1+1", "events": -2}])
    "key,events\\r\\n'=1+1,-2\\r\\n"
    """
    text = io.StringIO()
    writer: csv.DictWriter[str] | None = None
    for row in rows:
        if writer is None:
            writer = csv.DictWriter(text, list(row))
            writer.writeheader()
        writer.writerow({name: _cell(value) for name, value in row.items()})
    return text.getvalue()


def _cell(value: Any) -> Any:
    if isinstance(value, list | tuple):
        value = ", ".join(map(str, value))
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value
