"""The rules of "How we write" that a machine can check."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
EXEMPT = {
    "CONTRIBUTING.md",  # shows what not to write
    "CHANGELOG.md",  # names words that earlier builds printed
    "tests/unit/tools/test_wording.py",
}
WORDS = re.compile(
    r'\banew\b|\bso many\b|\bmend(?:s|ed)?\b|\bin earnest\b|"""The same\b|"""-> |"""[Ww]hether\b'
)
TEST_NAMES = re.compile(
    r"\bdef (test_\w*(?:what_is|what_was|nobody|whoever|everybody|_is_said|_is_told|_are_told|_anew"
    r"|_let_go|that_is_none|that_are_none)\w*|test_what_\w*)"
)
MOST_POINTS = 44
"""In the design. A point that concerns a single module belongs to its docstring."""


def files(*folders: str, suffixes: tuple[str, ...] = (".py",)) -> list[str]:
    paths = (path for folder in folders for path in (ROOT / folder).rglob("*"))
    return [str(path.relative_to(ROOT)) for path in paths if path.suffix in suffixes]


def matches(pattern: re.Pattern[str], names: list[str]) -> list[str]:
    return [
        f"{name}:{number}: {line.strip()}"
        for name in names
        if name not in EXEMPT and "/generated/" not in name
        for number, line in enumerate((ROOT / name).read_text().splitlines(), 1)
        if pattern.search(line)
    ]


def section(name: str, heading: str) -> str:
    text = (ROOT / name).read_text()
    return re.split(r"\n## ", text.partition(f"\n## {heading}\n")[2])[0]


def first_column(table: str) -> set[str]:
    return {cell.strip() for cell in re.findall(r"^\| ([^|]+) \|", table, re.MULTILINE)}


def test_words_of_the_old_voice_are_not_used() -> None:
    folders = ("src", "tests", "bench", "tools", "model", "docs")
    names = [each.name for each in ROOT.glob("*.md")]
    assert not matches(WORDS, [*names, *files(*folders, suffixes=(".py", ".md", ".html"))])


def test_test_names_are_promises() -> None:
    assert not matches(TEST_NAMES, files("tests"))


@pytest.mark.parametrize(
    "line",
    ['    """The same, later."""', "# made anew", '"""-> whether it fits"""', "only so many keys"],
)
def test_words_of_the_old_voice_are_found(line: str) -> None:
    assert WORDS.search(line)


@pytest.mark.parametrize("name", ["test_what_is_open_is_open", "test_a_port_that_is_taken_is_said"])
def test_riddles_are_found(name: str) -> None:
    assert TEST_NAMES.search(f"async def {name}() -> None:")


def test_each_word_is_defined_once() -> None:
    vocabulary = section("DESIGN.md", "The vocabulary")
    glossary = section("CONTRIBUTING.md", "Glossary")
    listed = glossary.partition("defines the words of the gate: ")[2].partition(". These rules")[0]
    words = re.split(r",\s+", re.sub(r"\([^)]*\)", "", listed).replace("\n", " "))
    known = vocabulary.lower()
    assert [word for word in words if word.strip() not in known] == []
    others = first_column(glossary.partition("The other words:")[2])
    assert not others & first_column(vocabulary) - {"term", "word", "---"}


def test_design_has_few_non_obvious_points() -> None:
    points = re.findall(r"^- \*\*", section("DESIGN.md", "Non-obvious points"), re.MULTILINE)
    assert 0 < len(points) <= MOST_POINTS
