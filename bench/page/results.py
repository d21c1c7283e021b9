"""The results that the page is made from."""

import json
import statistics
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class Origin:
    """Machine, date and commit of a measurement."""

    measured: str
    commit: str
    machine: Mapping[str, str]
    quick: bool


@dataclass(frozen=True, slots=True)
class Bench:
    """The figures of one benchmark."""

    origin: Origin
    command: str
    figures: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Place:
    """A point of a sweep: the median of every figure by system, or the reason for a failure."""

    name: str
    on: Mapping[str, int]
    found: Mapping[str, Mapping[str, float]]
    failed: Mapping[str, str]
    spreads: tuple[float, ...]
    """For each figure, its largest round divided by its smallest."""


@dataclass(frozen=True, slots=True)
class Growth:
    """One part of the sweep."""

    origin: Origin
    rounds: int
    places: tuple[Place, ...]

    @property
    def spreads(self) -> list[float]:
        return [spread for place in self.places for spread in place.spreads]

    def along(self, axis: str) -> list[Place]:
        """The points of an axis, in order."""
        return sorted((p for p in self.places if axis in p.on), key=lambda place: place.on[axis])


def read_bench(folder: Path, name: str) -> Bench | None:
    content = _read(folder / f"{name}.json")
    if content is None:
        return None
    return Bench(_origin(content), content["command"], content["figures"])


def read_growth(folder: Path, part: str) -> Growth | None:
    content = _read(folder / f"growth-{part}.json")
    if content is None:
        return None
    return Growth(_origin(content), content["rounds"], tuple(map(_place, content["points"])))


def _read(path: Path) -> dict[str, Any] | None:
    return json.loads(path.read_text()) if path.exists() else None


def _origin(content: Mapping[str, Any]) -> Origin:
    return Origin(content["measured"][:10], content["commit"], content["machine"], content["quick"])


def _place(point: Mapping[str, Any]) -> Place:
    medians = {
        system: {name: statistics.median(rounds) for name, rounds in figures.items()}
        for system, figures in point["found"].items()
    }
    spreads = (
        max(rounds) / min(rounds)
        for figures in point["found"].values()
        for rounds in figures.values()
    )
    return Place(point["name"], point["on"], medians, point["failed"], tuple(spreads))
