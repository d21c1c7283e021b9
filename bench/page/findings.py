"""Comparisons and series made from the results, by the catalogue."""

from dataclasses import dataclass
from pathlib import Path

from bench.page.catalogue import AXES, BENCHES, PAIRS, PARTS, PROCESSES, Alone, Part, Ratio
from bench.page.comparison import Comparison, Series
from bench.page.results import Bench, Growth, Place, read_bench, read_growth


@dataclass(frozen=True, slots=True)
class Findings:
    """All available results, by name."""

    benches: dict[str, Bench]
    growth: dict[str, Growth]

    @classmethod
    def read(cls, folder: Path) -> "Findings":
        benches = {name: read_bench(folder, name) for name in BENCHES}
        growth = {name: read_growth(folder, name) for name in [*PARTS, *PROCESSES]}
        return cls(
            {name: found for name, found in benches.items() if found is not None},
            {name: found for name, found in growth.items() if found is not None},
        )

    def comparisons(self, name: str) -> list[Comparison]:
        """The comparisons of a benchmark."""
        found = self.benches.get(name)
        return [] if found is None else [
            Comparison(what=known.what, peer=known.peer, better=known.better,
                       ratio=found.figures[figure], goal=known.goal)
            for figure, known in BENCHES[name].items()
            if isinstance(known, Ratio) and figure in found.figures
        ]  # fmt: skip

    def alone(self, name: str) -> list[tuple[Alone, float]]:
        """The figures of a benchmark that have no peer."""
        found = self.benches.get(name)
        return [] if found is None else [
            (known, found.figures[figure])
            for figure, known in BENCHES[name].items()
            if isinstance(known, Alone) and figure in found.figures
        ]  # fmt: skip

    def processes(self, name: str) -> list[tuple[Comparison, float, float]]:
        """Memory or start of each pair: the comparison, ours, theirs."""
        found = self.growth.get(name)
        places = {place.name: place.found for place in found.places} if found else {}
        rows = []
        for pair, (kind, peer, peer_name) in PAIRS.items():
            ours, theirs = places.get(pair, {}).get("holdfast"), places.get(pair, {}).get(peer)
            for figure, what in PROCESSES[name][1].items():
                if ours and theirs and figure in ours:
                    comparison = Comparison(
                        what=f"{kind}, {what}", peer=peer_name, better="less",
                        ratio=ours[figure] / theirs[figure],
                    )  # fmt: skip
                    rows.append((comparison, ours[figure], theirs[figure]))
        return rows

    def losses(self) -> list[str]:
        """A sentence for each figure in which a peer is ahead or Holdfast failed."""
        found = [each.loss for name in BENCHES for each in self.comparisons(name) if each.loses]
        for name, part in PARTS.items():
            if name in self.growth:
                found += part_losses(self.growth[name], part)
        for name in PROCESSES:
            found += [each.loss for each, _, _ in self.processes(name) if each.loses]
        return found

    def missing(self) -> list[str]:
        """The commands of benchmarks without a result."""
        return [
            *(f"python -m bench.record {name}" for name in BENCHES if name not in self.benches),
            *(
                f"python -m bench.growth --part {name}"
                for name in [*PARTS, *PROCESSES]
                if name not in self.growth
            ),
        ]


def part_losses(growth: Growth, part: Part) -> list[str]:
    along = [(axis, each) for axis in part.axes for each in series_along(growth, part, axis)]
    sentences = (series.losses(AXES[axis].text) for axis, series in along)
    return [
        *(sentence for sentence in sentences if sentence is not None),
        *(
            f"{name} fails where {part.peer_name} does not: {place.name}."
            for system, name in part.ours.items()
            for place in growth.places
            if system in place.failed and part.peer in place.found
        ),
    ]


def part_failures(growth: Growth, part: Part) -> list[str]:
    """The points at which a system failed, and the reasons."""
    names = {part.peer: part.peer_name, **part.ours}
    return [
        f"{names[system]} failed at {place.name}: {reason}"
        for place in growth.places
        for system, reason in place.failed.items()
    ]


def series_along(growth: Growth, part: Part, axis: str) -> list[Series]:
    """One for each figure and each variant of Holdfast."""
    return [
        Series(name, swept.what, part.peer_name, axis, [
            (place.on[axis], place.found[system][figure], place.found[part.peer][figure])
            for place in growth.along(axis)
            if system in place.found and part.peer in place.found
        ])
        for figure, swept in part.figures.items()
        for system, name in part.ours.items()
    ]  # fmt: skip


def value_at(place: Place, system: str, figure: str) -> float | None:
    return place.found.get(system, {}).get(figure)
