"""The keys of a command: arguments, standard input or a file; and what became of each."""

import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from holdfast.cli.options import Base64, OptionGroup, key_of_argument
from holdfast.cli.outcomes import sentence
from holdfast.cli.output import Output, chosen, show, show_one
from holdfast.cli.program import note
from holdfast.errors import TimedOutError
from holdfast.flows.holds import describe_hold
from holdfast.flows.keys import drawn, key_to_json, trimmed

if TYPE_CHECKING:
    from holdfast.client.flow import Flow
    from holdfast.client.receipt import Effect, Receipt
    from holdfast.flows.command_builder import CommandBuilder
    from holdfast.remote.flows import RemoteFlow, RemoteReceipt

_NAMED = 5
"""Trimmed keys that are named; of more, only the number is said."""


@dataclass(frozen=True, slots=True)
class KeyArguments(OptionGroup):
    """The keys of a command."""

    keys: Annotated[
        list[str] | None,
        typer.Argument(metavar="KEY...", show_default=False,
                       help="Record keys; '-' reads them from standard input, one per line."),
    ] = None  # fmt: skip
    keys_file: Annotated[
        Path | None,
        typer.Option("--keys", metavar="FILE", help="Read keys from FILE, one per line."),
    ] = None
    empty_key: Annotated[bool, typer.Option("--empty-key", help="The empty key.")] = False
    keep_space: Annotated[
        bool,
        typer.Option("--keep-space", help="Keep white space around keys of a file or of '-'."),
    ] = False
    base64: Base64 = False

    def all(self) -> list[bytes]:
        """The keys, without repeats; none if no key is given."""
        given = [key for key in self.keys or () if key != "-"]
        if "" in given:
            raise typer.BadParameter("an empty key is given: if you mean it, write --empty-key")
        lines: list[str] = sys.stdin.read().split("\n") if "-" in (self.keys or ()) else []
        if self.keys_file is not None:
            lines += self.keys_file.read_text(errors="surrogateescape").split("\n")
        keys = [*given, *self._of_lines(lines), *([""] if self.empty_key else [])]
        return list(dict.fromkeys(key_of_argument(key, self.base64) for key in keys))

    def required(self) -> list[bytes]:
        """The keys, or an error if none is given."""
        keys = self.all()
        if not keys and ("-" in (self.keys or ()) or self.keys_file is not None):
            note("There are no keys, so nothing was changed.")
            raise typer.Exit
        if not keys:
            raise typer.BadParameter("which keys? Give KEY..., '-', --keys FILE or --empty-key")
        return keys

    def _of_lines(self, lines: Iterable[str]) -> list[str]:
        present = [line.removesuffix("\r") for line in lines if line.strip()]
        if self.keep_space:
            return present
        spaced = [line for line in present if line != trimmed(line)]
        if spaced:
            named = ", ".join(map(drawn, spaced[:_NAMED]))
            more = f" and {len(spaced) - _NAMED} more" if len(spaced) > _NAMED else ""
            print(
                f"holdfast: white space around {len(spaced)} of {len(present)} keys is left out "
                f"({named}{more}); --keep-space keeps it.",
                file=sys.stderr,
            )
        return [trimmed(line) for line in present]


def builders(
    keys: Sequence[bytes], actor: str, command_id: str | None
) -> Iterator[tuple[bytes, "CommandBuilder"]]:
    """A builder for the command of each key; `command_id` is that of a single one."""
    from holdfast.clock import now_ms
    from holdfast.flows.command_builder import CommandBuilder

    if command_id is not None and len(keys) > 1:
        raise typer.BadParameter("one id is for one command: give a single KEY", param_hint="--id")
    now = now_ms()
    for key in keys:
        yield key, CommandBuilder(actor, now, command_id)


def report(
    flow: "Flow | RemoteFlow",
    receipts: Sequence["Receipt | RemoteReceipt"],
    wait: float | None,
    output: Output | None,
) -> None:
    """Print what became of commands. TimedOutError if some are not effective in time: what is
    printed stays, because the commands stand, too."""
    effects: Sequence[Effect | None] = [None] * len(receipts)
    if wait is None:
        note("Requested. It is effective when the pipeline has executed it (see --wait).")
    else:
        effects = flow.effects(receipts, wait)  # type: ignore[arg-type]  # each flow's own
    rows = [_row(*pair) for pair in zip(receipts, effects, strict=True)]
    if len(rows) == 1 and effects[0] is not None and chosen(output) is Output.TABLE:
        print(sentence(receipts[0], effects[0]))
    elif len(rows) == 1:
        show_one({name: value for name, value in rows[0].items() if name != "key"}, output)
    elif chosen(output) is Output.TABLE:
        show([{n: v for n, v in row.items() if n not in ("id", "command")} for row in rows], output)
    else:
        show(rows, output)
    if wait is not None and not all(effects):
        sys.stdout.flush()
        late = [r.offset for r, effect in zip(receipts, effects, strict=True) if effect is None]
        raise TimedOutError(
            f"{len(late)} of {len(receipts)} commands did not become effective within {wait:.0f} s "
            f"(the first is at offset {late[0]} of the control log). They will be applied. Is the "
            "flow's pipeline running?"
        )


def _row(receipt: "Receipt | RemoteReceipt", effect: "Effect | None") -> dict[str, Any]:
    key = getattr(receipt.command, "key", None)
    row: dict[str, Any] = {
        "key": None if key is None else next(iter(key_to_json(key).values())),
        "command": receipt.command.name,
        "id": receipt.command_id,
        "offset": receipt.offset,
        "outcome": effect and effect.outcome.value,
        "partition": effect and effect.partition,
        "cut": effect and effect.cut,
    }
    if effect and effect.cuts:
        del row["partition"]
        row["cut"] = [f"{partition}:{cut}" for partition, cut in sorted(effect.cuts.items())]
    if receipt.command.name == "resume":
        remaining = effect.remaining if effect else ()
        row["still paused by"] = [describe_hold(hold) for hold in remaining] or None
    if receipt.command.name in ("release", "release-prefix"):
        remaining = effect.remaining if effect else ()
        row["still held by"] = [describe_hold(hold) for hold in remaining] or None
    return row
