"""Filters of lists, by the names that the API and the dashboard use."""

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Annotated

import typer

from holdfast.cli.options import Base64, OptionGroup, key_of_argument

if TYPE_CHECKING:
    from holdfast.control.filters import Filter
    from holdfast.control.spans import Span

Limit = Annotated[int, typer.Option("--limit", "-n", min=1, max=500, help="Rows in a page.")]
Cursor = Annotated[
    str | None, typer.Option("--cursor", metavar="CURSOR", help="Go on after the page before.")
]
Text = Annotated[str, typer.Option("--text", metavar="TEXT", help="Only with this text.")]


@dataclass(frozen=True, slots=True)
class SpanOptions(OptionGroup):
    since: Annotated[
        str | None,
        typer.Option("--since", metavar="TIME", help="Not older: a time, or 2h for 2 hours ago."),
    ] = None
    until: Annotated[
        str | None, typer.Option("--until", metavar="TIME", help="Older than this.")
    ] = None

    @property
    def span(self) -> "Span":
        """Times without a zone are those of this machine's."""
        from holdfast.control.spans import Span

        offset = datetime.now().astimezone().strftime("%z")
        return Span.parse(self.since, self.until, zone=f"{offset[:3]}:{offset[3:5]}")


@dataclass(frozen=True, slots=True)
class KeyOption(OptionGroup):
    key: Annotated[
        str | None, typer.Option("--key", "-k", metavar="KEY", help="Only of this key.")
    ] = None
    base64: Base64 = False

    @property
    def bytes(self) -> bytes | None:
        return None if self.key is None else key_of_argument(self.key, self.base64)


@dataclass(frozen=True, slots=True)
class RecordOptions(OptionGroup):
    """Conditions on records."""

    text: Text = ""
    path: Annotated[
        str,
        typer.Option("--path", metavar="PATH", help="A JSON path that finds something: $.order."),
    ] = ""
    value: Annotated[
        str, typer.Option("--value", metavar="TEXT", help="What the path finds, as text.")
    ] = ""
    header: Annotated[
        str, typer.Option("--header", metavar="NAME=VALUE", help="A header, or only its name.")
    ] = ""
    partition: Annotated[
        int | None, typer.Option("--partition", "-p", metavar="NUMBER", min=0, show_default="all")
    ] = None

    def filter(self, key: bytes | None) -> "Filter":
        from holdfast.control.filters import Filter

        return Filter(key=key, text=self.text, path=self.path, value=self.value, header=self.header)
