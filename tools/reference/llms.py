"""`llms.txt`: the pages of the documentation as a list for language models."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

_LONGEST = 300


def llms_text(
    site: str, summary: str, nav: Sequence[Mapping[str, Any]], read: Callable[[str], str]
) -> str:
    """A heading for each section of the menu, and a line for each page. `read` returns the text of
    a page by its place on the site."""
    lines = [f"# {site}", "", f"> {summary}"]
    for entry in nav:
        for title, pages in entry.items():
            lines += ["", f"## {title}", ""]
            lines += [
                f"- [{name}]({re.sub(r'[.]md$', '.html', place)}): {_first_sentence(read(place))}"
                for name, place in _pages(title, pages)
            ]
    return "\n".join(lines) + "\n"


def _pages(title: str, pages: Any) -> Iterator[tuple[str, str]]:
    if isinstance(pages, str):
        yield title, pages
        return
    for page in pages:
        yield from page.items()


def _first_sentence(markdown: str) -> str:
    """The first sentence below the title, without links and code marks."""
    text = re.sub(r"```.*?```", "", markdown, flags=re.DOTALL)
    for block in re.split(r"\n\s*\n", text):
        plain = " ".join(block.split())
        if plain and not re.match(r"[#|!<>-]", plain):
            plain = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", plain).replace("`", "").replace("**", "")
            sentence = re.split(r"(?<=[.:]) ", plain)[0].rstrip(":")
            return sentence[:_LONGEST]
    return ""
