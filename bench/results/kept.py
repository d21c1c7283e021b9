"""The file in which a sweep's figures are kept as they come."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bench.results.machine import commit, machine

Figures = dict[str, float]


@dataclass(frozen=True, slots=True)
class Point:
    """One combination of settings. `on`: where it stands on the axes that it is a point of."""

    name: str
    settings: Mapping[str, int] = field(default_factory=dict)
    on: Mapping[str, int] = field(default_factory=dict)


class Kept:
    """Figures by point and system, each with all its rounds. What is there survives whatever ends
    the sweep."""

    def __init__(self, path: Path, about: Mapping[str, Any]) -> None:
        """Start from scratch: nothing is written before the first point."""
        now = datetime.now(UTC)
        self._path = path
        self._content: dict[str, Any] = {
            "measured": now.isoformat(timespec="minutes"),
            "commit": commit(now),
            "machine": machine(),
            **about,
            "points": [],
        }

    def resume(self) -> None:
        """Go on with what the file has, if it was measured alike."""
        if not self._path.exists():
            return
        found = json.loads(self._path.read_text())
        settled = ("part", "quick", "machine")
        if all(found.get(name) == self._content[name] for name in settled):
            self._content = found
        else:
            raise SystemExit(f"{self._path} was measured otherwise: start again without --resume")

    @property
    def points(self) -> list[dict[str, Any]]:
        points: list[dict[str, Any]] = self._content["points"]
        return points

    def has(self, point: Point) -> bool:
        return any(each["name"] == point.name for each in self.points)

    def add(
        self, point: Point, found: Mapping[str, list[Figures]], failed: Mapping[str, str]
    ) -> None:
        """Keep a point: of each system the rounds of every figure, or why there are none."""
        rounds = {
            system: {name: [round_[name] for round_ in each] for name in each[0]}
            for system, each in found.items()
            if each and system not in failed
        }
        self.points.append(
            {"name": point.name, "on": dict(point.on), "found": rounds, "failed": dict(failed)}
        )
        self._path.parent.mkdir(parents=True, exist_ok=True)
        beside = self._path.with_suffix(".new")
        beside.write_text(json.dumps(self._content, indent=1) + "\n")
        beside.replace(self._path)
