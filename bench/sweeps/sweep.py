"""The turn through the points: systems alternate, and every point is kept at once."""

import statistics
import time
from collections.abc import Callable, Sequence

from bench.results.kept import Figures, Kept, Point

Measure = Callable[[Point, str], Figures]


def sweep(
    kept: Kept, points: Sequence[Point], systems: Sequence[str], measure: Measure, rounds: int
) -> None:
    """Measure each point that is not kept yet. One that a system cannot do is kept as failed."""
    for number, point in enumerate(points, 1):
        place = f"  {number}/{len(points)} {point.name}"
        if kept.has(point):
            print(f"{place}: kept", flush=True)
            continue
        began = time.monotonic()
        found: dict[str, list[Figures]] = {system: [] for system in systems}
        failed: dict[str, str] = {}
        for turn in range(rounds):
            for system in systems if turn % 2 == 0 else reversed(systems):
                if system in failed:
                    continue
                try:
                    found[system].append(measure(point, system))
                except Exception as error:  # what the others found must not be lost with it
                    failed[system] = f"{type(error).__name__}: {str(error).partition(chr(10))[0]}"
        kept.add(point, found, failed)
        shown = "; ".join(f"{each} {_shown(found[each], failed.get(each))}" for each in systems)
        print(f"{place}: {shown} ({time.monotonic() - began:.0f} s)", flush=True)


def _shown(rounds: Sequence[Figures], failure: str | None) -> str:
    if failure is not None:
        return f"failed: {failure}"
    return ", ".join(
        f"{name} {statistics.median(each[name] for each in rounds):,.4g}" for name in rounds[0]
    )
