"""Options that a dataclass declares once. Record, command line, API and dashboard follow."""

import dataclasses
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Option:
    """How people give an option of a run or of a flow."""

    help: str
    flags: tuple[str, ...] = ()
    """On the command line; by default the field's name."""
    metavar: str | None = None
    example: Any = None
    limits: Mapping[str, float] = dataclasses.field(default_factory=dict)
    """`max_length` of a text or list; `gt`, `ge` and `le` of a number."""
    fixed: bool = False
    """Given when a flow is created, and never changed."""


def option(default: Any, help: str, *flags: str, **more: Any) -> Any:  # noqa: A002
    """A field that is an option."""
    return dataclasses.field(default=default, metadata={"option": Option(help, flags, **more)})


def options_of(kind: type[Any]) -> Iterator[tuple["dataclasses.Field[Any]", Option]]:
    """The options among the fields of a dataclass."""
    for field in dataclasses.fields(kind):
        if "option" in field.metadata:
            yield field, field.metadata["option"]
