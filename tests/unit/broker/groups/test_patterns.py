"""Regular expressions of topic names: RE2's meaning, in linear time."""

import random
import re

import pytest

from holdfast.broker.groups.consumer.patterns import BadPattern, Pattern, TooCostly

ATOMS = ("a", "b", ".", "[ab]", "[^a]", r"\.", r"\d", r"\w", "(?:ab|c)", "(a|b)", "[a-c]", "^",
         "$", "1", "_", "(?i:A)", r"\W", r"[\d_]", "x|")  # fmt: skip
REPEATS = ("", "", "", "*", "+", "?", "{2}", "{1,3}", "{0,2}", "{2,}", "*?", "{0}")


@pytest.mark.parametrize("seed", range(5))
def test_random_patterns_match_what_python_matches(seed: int) -> None:
    choose = random.Random(seed)
    names = ["".join(choose.choices("abcABx1._-", k=choose.randint(1, 5))) for _ in range(60)]
    for _ in range(60):
        text = ""
        for _ in range(choose.randint(1, 4)):
            atom = choose.choice(ATOMS)
            text += atom + ("" if atom in ("^", "$", "x|") else choose.choice(REPEATS))
        expected = {name for name in names if re.fullmatch(text, name)}
        assert Pattern(text).search(names) == expected, text


def test_pattern_that_would_take_years_is_searched_at_once() -> None:
    names = ["a" * 249, "x" * 200 + "y"]
    assert Pattern("(a*)*(a|b)*(x+x+)+y").search(names) == {names[1]}


def test_search_that_takes_too_long_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("holdfast.broker.groups.consumer.patterns.MOST_STEPS", 50)
    with pytest.raises(TooCostly):
        Pattern("(a|b)*a(a|b){10}").search(["ab" * 20] * 10)


@pytest.mark.parametrize(
    "text",
    ["(", "a**", "[z-a]", r"\1", "(?=a)", "(?<!a)b", "a{1001}", "(a{100}){100}", "[", "x)",
     r"\pL", r"\b", "*", "a\\", "(?P<1>a)", "[[:none:]]", "x" * 1001, "(" * 60 + ")" * 60],
)  # fmt: skip
def test_pattern_that_re2_or_a_topic_name_does_not_know_is_refused(text: str) -> None:
    with pytest.raises(BadPattern):
        Pattern(text)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("(?i)ORDERS", {"orders", "Orders"}),
        (r"\Qa.b\E", {"a.b"}),
        ("[[:upper:]].*", {"Orders"}),
        ("(?P<first>a)(?<second>.)b", {"a.b", "axb"}),
        (r"\x61.b", {"a.b", "axb"}),
        ("^a.*$", {"a.b", "axb"}),
        ("orders|axb", {"orders", "axb"}),
    ],
)
def test_syntax_of_re2(text: str, names: set[str]) -> None:
    assert Pattern(text).search(["orders", "Orders", "a.b", "axb"]) == names
