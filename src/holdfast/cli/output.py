"""Tables for people, JSON for scripts, plain lines for pipes."""

import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, is_dataclass
from enum import StrEnum
from typing import Annotated, Any

import typer

from holdfast.clock import duration_text, from_ms
from holdfast.csv_rows import csv_text
from holdfast.flows.keys import drawn


class Output(StrEnum):
    """How to print."""

    TABLE = "table"
    JSON = "json"
    RAW = "raw"
    CSV = "csv"
    WIDE = "wide"
    """A table with all columns."""


Format = Annotated[
    Output | None,
    typer.Option(
        "--output", "-o",
        help="How to print: a table, one with all columns, JSON, CSV, or raw lines with tabs.",
        show_default="table on a terminal, raw in a pipe",
    ),
]  # fmt: skip


def chosen(output: Output | None) -> Output:
    """The given form; otherwise a table on a terminal and raw lines in a pipe. A wide table is a
    table: only `show` knows of columns that are left out."""
    if output is Output.WIDE:
        return Output.TABLE
    return output or (Output.TABLE if sys.stdout.isatty() else Output.RAW)


def show(
    rows: Sequence[Mapping[str, Any]],
    output: Output | None,
    *,
    empty: str = "",
    short: Sequence[Mapping[str, Any]] | None = None,
) -> None:
    """Prints rows with the same columns. `empty` is the text for people if there are none, and
    `short` the rows of a table that fits on a terminal of 80 columns, one line a row."""
    match chosen(output):
        case Output.JSON:
            print_json(list(rows))
        case Output.CSV:
            print(csv_text([_cells(row) for row in rows]), end="")
        case Output.RAW:
            for row in rows:
                print("\t".join(map(_field, row.values())))
        case _ if not rows:
            print(empty, end="\n" if empty else "")
        case _ if short is not None and output is not Output.WIDE:
            _table(short, one_line=True)
        case _:
            _table(rows)


def show_one(row: Mapping[str, Any], output: Output | None) -> None:
    """Print the properties of one thing."""
    match chosen(output):
        case Output.JSON:
            print_json(dict(row))
        case Output.CSV:
            print(csv_text([_cells(row)]), end="")
        case Output.RAW:
            for name, value in row.items():
                print(f"{name}\t{_field(value)}")
        case _:
            known = {name: value for name, value in row.items() if value is not None}
            width = max(map(len, known))
            for name, value in known.items():
                print(f"{name:<{width}}  {_for_people(name, value)}")


def print_json(value: Any) -> None:
    """JSON, indented for people, on one line for pipes."""
    indent = 2 if sys.stdout.isatty() else None
    print(json.dumps(value, indent=indent, default=_jsonable, ensure_ascii=False))


def age_text(milliseconds: int | None, now: int) -> str | None:
    """How long ago a time was, or how long until then.

    >>> age_text(0, 7_800_000), age_text(90_000, 0)
    ('2h 10m ago', 'in 1m')
    """
    if milliseconds is None:
        return None
    ago = now - milliseconds
    return f"{duration_text(ago)} ago" if ago >= 0 else f"in {duration_text(-ago)}"


def time_text(milliseconds: int | None) -> str | None:
    """A time in UTC, to the second."""
    if milliseconds is None:
        return None
    return from_ms(milliseconds).isoformat(timespec="seconds")


def _table(rows: Sequence[Mapping[str, Any]], *, one_line: bool = False) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
    console = Console()
    widths = _fitting(rows, console.width) if one_line else {}
    for name, value in rows[0].items():
        number = isinstance(value, int | float) and not isinstance(value, bool)
        table.add_column(
            name,
            justify="right" if number else "left",
            overflow="ellipsis" if one_line else "fold",
            no_wrap=one_line,
            width=widths.get(name),
        )
    for row in rows:
        table.add_row(*(Text(_for_people(*item)) for item in row.items()))
    console.print(table)


_CUT = {"key": 14, "prefix": 14, "flow": 10, "group": 14, "by": 6, "holds": 6, "reason": 8}
"""Columns that are cut off if a row does not fit, and the characters that always stay."""


def _fitting(rows: Sequence[Mapping[str, Any]], room: int) -> dict[str, int]:
    """The width of each column: the widest of those that may be cut off give way."""
    cells = [{name: _for_people(name, value) for name, value in row.items()} for row in rows]
    widths = {name: max(len(name), *(len(row[name]) for row in cells)) for name in rows[0]}
    excess = sum(widths.values()) + 3 * len(widths) - room  # rich puts 3 between columns
    while excess > 0:
        cut = [name for name in widths if widths[name] > _CUT.get(name, widths[name])]
        if not cut:
            break
        widest = max(cut, key=widths.__getitem__)
        widths[widest], excess = widths[widest] - 1, excess - 1
    return widths


def _cells(row: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: value if value is None or isinstance(value, int | float) else _plain(value)
        for name, value in row.items()
    }


def _for_people(name: str, value: Any) -> str:
    """A cell of a table: the invisible characters of a key are drawn."""
    text = _plain(value)
    return drawn(text) if name == "key" else text


_IN_ONE_LINE = str.maketrans({"\t": "\\t", "\n": "\\n", "\r": "\\r"})


def _field(value: Any) -> str:
    """A field of a line for scripts: keys, reasons and tracebacks cannot begin another one."""
    return _plain(value).translate(_IN_ONE_LINE)


def _plain(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.1f}"
    if isinstance(value, bytes):
        return value.decode(errors="backslashreplace")
    if isinstance(value, Iterable) and not isinstance(value, str):
        return ", ".join(map(_plain, value))
    return str(value)


def _jsonable(value: Any) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    if isinstance(value, bytes):
        return value.decode(errors="backslashreplace")
    return str(value)
