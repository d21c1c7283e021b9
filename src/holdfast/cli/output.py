"""Tables for people, JSON for scripts, plain lines for pipes."""

import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, is_dataclass
from enum import StrEnum
from typing import Annotated, Any

import typer


class Output(StrEnum):
    """How to print."""

    TABLE = "table"
    JSON = "json"
    RAW = "raw"


Format = Annotated[
    Output | None,
    typer.Option(
        "--output", "-o",
        help="How to print: a table, JSON, or raw lines with tabs.",
        show_default="table on a terminal, raw in a pipe",
    ),
]  # fmt: skip


def chosen(output: Output | None) -> Output:
    """What was asked for; else what suits whoever reads."""
    return output or (Output.TABLE if sys.stdout.isatty() else Output.RAW)


def show(rows: Sequence[Mapping[str, Any]], output: Output | None, *, empty: str = "") -> None:
    """Print rows that all have the same columns. `empty` tells people that there are none."""
    match chosen(output):
        case Output.JSON:
            print_json(list(rows))
        case Output.RAW:
            for row in rows:
                print("\t".join(map(_plain, row.values())))
        case Output.TABLE:
            if rows:
                _table(rows)
            elif empty:
                print(empty)


def show_one(row: Mapping[str, Any], output: Output | None) -> None:
    """Print the properties of one thing."""
    match chosen(output):
        case Output.JSON:
            print_json(dict(row))
        case Output.RAW:
            for name, value in row.items():
                print(f"{name}\t{_plain(value)}")
        case Output.TABLE:
            known = {name: value for name, value in row.items() if value is not None}
            width = max(map(len, known))
            for name, value in known.items():
                print(f"{name:<{width}}  {_plain(value)}")


def print_json(value: Any) -> None:
    """JSON, indented for people, on one line for pipes."""
    indent = 2 if sys.stdout.isatty() else None
    print(json.dumps(value, indent=indent, default=_jsonable, ensure_ascii=False))


def _table(rows: Sequence[Mapping[str, Any]]) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
    for name, value in rows[0].items():
        number = isinstance(value, int | float) and not isinstance(value, bool)
        table.add_column(name, justify="right" if number else "left", overflow="fold")
    for row in rows:
        table.add_row(*(Text(_plain(value)) for value in row.values()))
    Console().print(table)


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
