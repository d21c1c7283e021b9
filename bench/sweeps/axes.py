"""Points on axes that cross at one base."""

from collections.abc import Mapping, Sequence

from bench.results.kept import Point

Settings = dict[str, int]


def along(base: Settings, axes: Mapping[str, Sequence[Settings]]) -> list[Point]:
    """Points in which an axis's settings take the place of the base's.

    The base belongs to every axis that comes by, and is measured once.
    """
    found: dict[tuple[tuple[str, int], ...], dict[str, int]] = {}
    for axis, changes in axes.items():
        for change in changes:
            settings = tuple((base | change).items())
            found.setdefault(settings, {})[axis] = change[axis]
    return [
        Point(", ".join(f"{name} {value:,}" for name, value in settings), dict(settings), on)
        for settings, on in found.items()
    ]


def each(axis: str, *values: int) -> list[Settings]:
    """An axis on which one setting alone changes."""
    return [{axis: value} for value in values]
