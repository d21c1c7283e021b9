"""Markdown: tables, and text that must not be taken for markup."""

from collections.abc import Iterable, Sequence


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table, or nothing if it would have no rows."""
    lines = [_row(cells) for cells in rows]
    if not lines:
        return ""
    return "\n".join([_row(heads), _row(["---"] * len(heads)), *lines])


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(map(_cell, cells)) + " |"


def _cell(text: str) -> str:
    """On one line. A bar would end the cell, except between backticks."""
    pieces = " ".join(text.split()).split("`")
    pieces[::2] = [piece.replace("|", "\\|") for piece in pieces[::2]]
    return "`".join(pieces)


def code(text: object) -> str:
    """Text as it is typed; nothing for no text."""
    return f"`{text}`" if str(text) else ""


def block(text: str, language: str = "") -> str:
    return f"```{language}\n{text.rstrip()}\n```"


def prose(text: str) -> str:
    """Text of help and docstrings: what looks like a tag is not one."""
    return text.replace("<", "&lt;")


def page(*parts: str) -> str:
    """Parts with an empty line between; those without text are left out."""
    return "\n\n".join(part for part in parts if part) + "\n"
