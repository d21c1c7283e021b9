"""Python source under construction, and the runs of fixed-width values inside it."""

from collections.abc import Iterator
from contextlib import contextmanager

from tools.codec_generator.definitions import Field, Struct

CODES = {
    "bool": "?",
    "int8": "b",
    "int16": "h",
    "uint16": "H",
    "int32": "i",
    "uint32": "I",
    "int64": "q",
    "float64": "d",
    "uuid": "16s",
}
SIZES = {"?": 1, "b": 1, "B": 1, "h": 2, "H": 2, "i": 4, "I": 4, "q": 8, "d": 8, "16s": 16}
_SPELLED = {"?": "t", "16s": "u"}


def spelled(codes: list[str]) -> str:
    """A run's struct codes as a part of a Python name."""
    return "".join(_SPELLED.get(code, code) for code in codes)


class Source:
    """Lines with an indentation, and a run of fixed-width values that is not yet written out.

    Neighbouring values are merged into one call of one precompiled `struct.Struct`. `runs` holds
    the formats that were used, by the name that the module gives them.
    """

    def __init__(self, version: int, flexible: bool) -> None:
        self.version = version
        self.flexible = flexible
        self.lines: list[str] = []
        self.runs: dict[str, str] = {}
        self._run: list[tuple[str, str]] = []
        self._indent = 1

    def emit(self, line: str) -> None:
        self.lines.append("    " * self._indent + line)

    @contextmanager
    def block(self, opening: str) -> Iterator[None]:
        self.emit(opening)
        self._indent += 1
        yield
        self._indent -= 1

    def add(self, code: str, value: str) -> None:
        """Another fixed-width value of the run."""
        self._run.append((code, value))

    def take_run(self, verb: str) -> tuple[str, list[str], int]:
        """Ends the run: the name of its struct's function, its values, its size in bytes."""
        codes = [code for code, _ in self._run]
        values = [value for _, value in self._run]
        self._run = []
        name = f"_{verb}_{spelled(codes)}"
        if codes not in ([], ["B"]):  # one byte is read and written without a struct
            self.runs[name] = ">" + "".join(codes)
        return name, values, sum(SIZES[code] for code in codes)

    def least_size(self, field: Field) -> int:
        """The fewest bytes that one element of a field takes."""
        if field.type in CODES:
            return SIZES[CODES[field.type]]
        if field.struct is not None:
            return self.least_size_of_struct(field.struct)
        if self.flexible:
            return 1
        return 2 if field.type == "string" else 4

    def least_size_of_struct(self, struct: Struct) -> int:
        return int(self.flexible) + sum(self._least_plain(f) for f in struct.plain(self.version))

    def _least_plain(self, field: Field) -> int:
        if field.is_array:
            return 1 if self.flexible else 4
        if field.struct is not None and self.version in field.nullable:
            return 1
        return self.least_size(field)
