"""`llms.txt` names every page of the documentation, with a sentence about it."""

import re
from pathlib import Path

import yaml
from tools.reference import PAGES
from tools.reference.links import SOURCES
from tools.reference.llms import llms_text

ROOT = Path(__file__).parents[3]
# The tags of mkdocs.yml are not needed here: none is used by the menu.
CONFIG = yaml.safe_load((ROOT / "mkdocs.yml").read_text())


def read(place: str) -> str:
    if place in PAGES:
        return f"# Title\n\nThe page {place}. More."
    return (ROOT / SOURCES.get(place, f"docs/{place}")).read_text()


def test_every_page_has_a_line_with_a_sentence() -> None:
    text = llms_text(CONFIG["site_name"], CONFIG["site_description"], CONFIG["nav"], read)
    assert text.startswith("# Holdfast\n\n> Put any key of a stream on hold")
    lines = re.findall(r"^- \[([^]]+)\]\(([^)]+)\): (.*)$", text, re.MULTILINE)
    places = re.findall(r":\s+(\S+\.md)$", (ROOT / "mkdocs.yml").read_text(), re.MULTILINE)
    assert [place for _, place, _ in lines] == [p.replace(".md", ".html") for p in places]
    for title, _, sentence in lines:
        assert len(sentence) > 10, title
        assert not re.search(r"[`\[|]", sentence), title
    assert {"## Use", "## Run", "## Reference"} <= set(text.splitlines())
