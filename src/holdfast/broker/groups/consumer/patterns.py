"""Regular expressions of topic names, in linear time.

Members send regular expressions in RE2's syntax. Python's `re` tries alternatives one after the
other: a pattern of twenty characters can then take years. So a pattern becomes a machine that reads
each character of a name once, with all alternatives at the same time. RE2 does the same.

RE2's back-references and look-arounds do not exist, and a pattern with them is refused. Word
boundaries and Unicode classes are refused too: topic names are ASCII.
"""

import string
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

LONGEST_PATTERN = 1_000
"""Characters."""
MOST_NODES = 1_000
"""Nodes of a machine. `(a{100}){100}` would have 10,000."""
MOST_REPEATS = 1_000
"""RE2's limit of `{n}`."""
MOST_STEPS = 5_000_000
"""Steps of one search, about 2 seconds on a thread."""
MOST_DEPTH = 50
"""Nested groups."""
_MOST_SETS = 1_000
"""Kept sets of nodes."""

ALPHABET = frozenset(string.ascii_letters + string.digits + "._-")
"""The characters of topic names."""
_DIGITS = frozenset(string.digits)
_WORD = frozenset(string.ascii_letters + string.digits + "_")
_NAMED = {
    "alnum": frozenset(string.ascii_letters + string.digits),
    "alpha": frozenset(string.ascii_letters),
    "ascii": ALPHABET,
    "digit": _DIGITS,
    "lower": frozenset(string.ascii_lowercase),
    "punct": frozenset("._-"),
    "upper": frozenset(string.ascii_uppercase),
    "word": _WORD,
    "xdigit": frozenset(string.hexdigits),
    "blank": frozenset(),
    "cntrl": frozenset(),
    "space": frozenset(),
    "graph": ALPHABET,
    "print": ALPHABET,
}
_ESCAPED = {"d": _DIGITS, "w": _WORD, "s": frozenset[str]()}
_CONTROLS = "aftnrv"

Chars = frozenset[str]


class BadPattern(ValueError):
    """The text is not a regular expression that the broker can use."""


class TooCostly(Exception):
    """A search took more than `MOST_STEPS`."""


@dataclass(slots=True)
class _Node:
    """Reads one of `chars`, or nothing if that is None; then continues at each of `after`."""

    chars: Chars | None = None
    after: "list[int]" = field(default_factory=list)
    only_at: str = ""
    """`start` or `end` of the name; otherwise anywhere."""


class _Part(NamedTuple):
    """A part of the machine: its first node, and its last one, which has no successor yet."""

    first: int
    last: int


class Pattern:
    """A regular expression that must match a whole name."""

    def __init__(self, text: str) -> None:
        """Raises BadPattern."""
        self.text = text
        parser = _Parser(text)
        part = parser.parse()
        self._nodes = parser.nodes
        self._accept = part.last
        self._start = self._closed([part.first], at="start")
        self._next: dict[tuple[frozenset[int], str], frozenset[int]] = {}

    def search(self, names: Iterable[str]) -> frozenset[str]:
        """The names that match; raises TooCostly."""
        found, steps = [], 0
        for name in names:
            nodes = self._start
            for char in name:
                known = self._next.get((nodes, char))
                if known is None:
                    steps += len(nodes)
                    known = self._read(nodes, char)
                nodes = known
                if not nodes:
                    break
            steps += len(name) // 10 + 1
            if nodes and self._accept in self._closed(nodes, at="end" if name else "both"):
                found.append(name)
            if steps > MOST_STEPS:
                raise TooCostly(self.text)
        return frozenset(found)

    def _read(self, nodes: frozenset[int], char: str) -> frozenset[int]:
        after = [
            following
            for node in nodes
            if char in (self._nodes[node].chars or ())
            for following in self._nodes[node].after
        ]
        closed = self._closed(after)
        if len(self._next) >= _MOST_SETS:
            self._next.clear()
        self._next[nodes, char] = closed
        return closed

    def _closed(self, nodes: Iterable[int], at: str = "") -> frozenset[int]:
        """These nodes and those that they reach without reading."""
        seen: set[int] = set()
        waiting = list(nodes)
        while waiting:
            number = waiting.pop()
            if number in seen:
                continue
            seen.add(number)
            node = self._nodes[number]
            if node.chars is None and node.only_at in ("", at):
                waiting += node.after
        return frozenset(seen)


class _Parser:
    """Builds the machine of a pattern, from left to right."""

    def __init__(self, text: str) -> None:
        if len(text) > LONGEST_PATTERN:
            raise BadPattern(f"it has {len(text)} characters, more than {LONGEST_PATTERN}")
        self.nodes: list[_Node] = []
        self._text = text
        self._at = 0
        self._depth = 0
        self._ignores_case = False

    def parse(self) -> _Part:
        part = self._alternatives()
        if self._at < len(self._text):
            raise BadPattern(f"')' at character {self._at + 1} closes nothing")
        return part

    # structure

    def _alternatives(self) -> _Part:
        self._depth += 1
        if self._depth > MOST_DEPTH:
            raise BadPattern(f"it has more than {MOST_DEPTH} nested groups")
        parts = [self._sequence()]
        while self._take("|"):
            parts.append(self._sequence())
        self._depth -= 1
        if len(parts) == 1:
            return parts[0]
        first, last = self._node(), self._node()
        for part in parts:
            self._join(first, part.first)
            self._join(part.last, last)
        return _Part(first, last)

    def _sequence(self) -> _Part:
        first = last = self._node()
        while self._at < len(self._text) and self._peek() not in "|)":
            part = self._repeated()
            self._join(last, part.first)
            last = part.last
        return _Part(first, last)

    def _repeated(self) -> _Part:
        start = self._at
        before = self._ignores_case
        part = self._single()
        least, most = self._repeats()
        if (least, most) == (1, 1):
            return part
        end = self._at
        first = last = self._node()
        for number in range(max(least, most or least + 1)):
            if number:  # a copy: the text is read again
                self._at, after_flags = start, self._ignores_case
                self._ignores_case = before
                part = self._single()
                self._at, self._ignores_case = end, after_flags
            skip = self._node()
            self._join(last, part.first)
            self._join(part.last, skip)
            if number >= least:
                self._join(last, skip)
            if most is None and number >= least:
                self._join(part.last, part.first)
            last = skip
        if most == 0:
            return _Part(first, first)
        return _Part(first, last)

    def _repeats(self) -> tuple[int, int | None]:
        """The least and the most times of the part before; None for any number."""
        signs: dict[str, tuple[int, int | None]] = {"*": (0, None), "+": (1, None), "?": (0, 1)}
        times: tuple[int, int | None] = (1, 1)
        if self._peek() in signs and self._peek():
            times = signs[self._next_char()]
        elif self._peek() == "{":
            counted = self._counted()
            if counted is None:
                return times
            times = counted
        else:
            return times
        self._take("?")  # the shortest match: the same names match
        if self._peek() in signs and self._peek():
            raise BadPattern(f"'{self._peek()}' at character {self._at + 1} repeats a repetition")
        return times

    def _counted(self) -> tuple[int, int | None] | None:
        """`{n}`, `{n,}` or `{n,m}`; None if the brace is an ordinary character."""
        end = self._text.find("}", self._at)
        least, comma, most = self._text[self._at + 1 : end].partition(",")
        numbers = [number for number in (least, most) if number]
        if end < 0 or not least or not all(n.isascii() and n.isdigit() for n in numbers):
            return None
        if any(len(n) > 4 or int(n) > MOST_REPEATS for n in numbers):
            raise BadPattern(f"it repeats a part more than {MOST_REPEATS} times")
        self._at = end + 1
        lowest = int(least)
        highest = (int(most) if most else None) if comma else lowest
        if highest is not None and highest < lowest:
            raise BadPattern(f"'{{{least},{most}}}' is no range")
        return lowest, highest

    # single parts

    def _single(self) -> _Part:
        char = self._next_char()
        if char == "(":
            return self._group()
        if char == "[":
            return self._reading(self._set())
        if char == "\\":
            return self._escape()
        if char == ".":
            return self._reading(ALPHABET)
        if char in "^$":
            return self._anchor("start" if char == "^" else "end")
        if char in "*+?":
            raise BadPattern(f"'{char}' at character {self._at} repeats nothing")
        return self._reading(frozenset(char))

    def _group(self) -> _Part:
        outer = self._ignores_case
        if self._take("?"):
            if self._take("P<") or (self._text[self._at : self._at + 2] not in ("<=", "<!")
                                    and self._take("<")):  # fmt: skip
                name = self._until(">")
                if not name.isidentifier():
                    raise BadPattern(f"'{name}' is no name of a group")
            elif self._flags():
                return self._anchor("")  # `(?i)` is valid until the end of the group around it
        part = self._alternatives()
        if not self._take(")"):
            raise BadPattern("a '(' is not closed")
        self._ignores_case = outer
        return part

    def _flags(self) -> bool:
        """Reads the flags of a group. Returns True if there is nothing else in it."""
        is_on = True
        while (char := self._next_char()) not in ":)":
            if char == "-":
                is_on = False
            elif char == "i":
                self._ignores_case = is_on
            elif char not in "msU":  # they do not change which names match
                raise BadPattern(f"'(?{char}' is not supported")
        return char == ")"

    def _escape(self) -> _Part:
        if self._take("Q"):
            first = last = self._node()
            end = self._text.find("\\E", self._at)
            quoted = self._text[self._at : end if end >= 0 else None]
            self._at = end + 2 if end >= 0 else len(self._text)
            for char in quoted:
                part = self._reading(frozenset(char))
                self._join(last, part.first)
                last = part.last
            return _Part(first, last)
        if self._take("A"):
            return self._anchor("start")
        if self._take("z"):
            return self._anchor("end")
        return self._reading(self._escaped())

    def _escaped(self) -> Chars:
        char = self._next_char()
        if char.lower() in _ESCAPED:
            chars = _ESCAPED[char.lower()]
            return chars if char.islower() else ALPHABET - chars
        if char in _CONTROLS:
            return frozenset()  # in no topic name
        if char == "x":
            digits = self._until("}") if self._take("{") else self._next_char() + self._next_char()
            try:
                return frozenset(chr(int(digits, 16)))
            except (ValueError, OverflowError):
                raise BadPattern(f"'\\x{digits}' is no character") from None
        if char.isalnum():
            raise BadPattern(f"'\\{char}' is not supported")
        return frozenset(char)

    def _set(self) -> Chars:
        """`[a-z]` and its like, after the bracket."""
        is_negative = self._take("^")
        chars: set[str] = set()
        is_first = True
        while is_first or self._peek() != "]":
            is_first = False
            if self._take("[:"):
                is_inverted = self._take("^")
                named = _NAMED.get(name := self._until(":"))
                if named is None or not self._take("]"):
                    raise BadPattern(f"there is no class '{name}'")
                chars |= ALPHABET - named if is_inverted else named
                continue
            low = self._set_item()
            if (
                len(low) == 1
                and self._peek() == "-"
                and self._text[self._at + 1 : self._at + 2] not in ("]", "")
            ):
                self._at += 1
                high = self._set_item()
                (first,), (last,) = low, high if len(high) == 1 else ("",)
                if not last or first > last:
                    raise BadPattern(f"'{first}-{last}' is no range")
                chars |= {char for char in ALPHABET if first <= char <= last}
            else:
                chars |= low
        self._at += 1
        if self._ignores_case:
            chars |= {other for char in chars for other in (char.lower(), char.upper())}
        return frozenset(ALPHABET - chars if is_negative else chars)

    def _set_item(self) -> Chars:
        char = self._next_char()
        return self._escaped() if char == "\\" else frozenset(char)

    # the machine

    def _reading(self, chars: Chars) -> _Part:
        if self._ignores_case:
            chars = frozenset(o for char in chars for o in (char.lower(), char.upper()))
        first, last = self._node(), self._node()
        self.nodes[first].chars = chars & ALPHABET
        self._join(first, last)
        return _Part(first, last)

    def _anchor(self, where: str) -> _Part:
        first, last = self._node(), self._node()
        self.nodes[first].only_at = where
        self._join(first, last)
        return _Part(first, last)

    def _node(self) -> int:
        if len(self.nodes) >= MOST_NODES:
            raise BadPattern("it is too large: repeat less, or use fewer alternatives")
        self.nodes.append(_Node())
        return len(self.nodes) - 1

    def _join(self, node: int, after: int) -> None:
        self.nodes[node].after.append(after)

    # the text

    def _peek(self) -> str:
        return self._text[self._at : self._at + 1]

    def _next_char(self) -> str:
        char = self._peek()
        if not char:
            raise BadPattern("it ends in the middle of an expression")
        self._at += 1
        return char

    def _take(self, expected: str) -> bool:
        if not self._text.startswith(expected, self._at):
            return False
        self._at += len(expected)
        return True

    def _until(self, end: str) -> str:
        stop = self._text.find(end, self._at)
        if stop < 0:
            raise BadPattern(f"a '{end}' is missing")
        text, self._at = self._text[self._at : stop], stop + len(end)
        return text
