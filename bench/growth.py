"""How cost grows: each part beside its peer, one setting changed at a time; memory; start.

    python -m bench.growth                    # all parts, about 40 minutes on two cores
    python -m bench.growth --part broker      # one part (may be given more than once)
    python -m bench.growth --resume           # go on with what an interrupted sweep has left
    python -m bench.growth --quick            # the ends of each axis and little load, in minutes

    broker      partitions, size: produce and consume against Apache Kafka         about  5 min
    processing  partitions, size: messages a second against sentry-arroyo          about  6 min
    gate        partitions, keys, held keys, size: events a second against Streams about 20 min
    memory      of all processes of each system after the same load                about  4 min
    start       from the process's start to the first event through                about  3 min

Figures are kept in `growth-<part>.json` of the results' folder as they come (of a quick run:
`build/bench`), with the machine, the versions and the commit; `docs/benchmarks.md` is generated
from them. The last line printed is one line of JSON: ours over the peer's, at every point.
"""

import argparse
import json
import statistics
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bench.report import DOCS, write
from bench.results import FOLDER, QUICK_FOLDER
from bench.results.kept import Kept
from bench.sweeps.broker import broker
from bench.sweeps.gate import gate
from bench.sweeps.plan import Plan
from bench.sweeps.processes import memory, start
from bench.sweeps.processing import processing

PARTS: dict[str, tuple[Callable[[Plan], None], int]] = {
    "broker": (broker, 5),
    "processing": (processing, 3),
    "gate": (gate, 1),
    "memory": (memory, 1),
    "start": (start, 3),
}
"""The benchmarks, and their number of rounds."""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--part", action="append", choices=PARTS, help="all unless given")
    parser.add_argument("--out", type=Path, help="the results' folder")
    parser.add_argument("--rounds", type=int, help="of each point; the median counts")
    parser.add_argument("--resume", action="store_true", help="keep the points that are there")
    parser.add_argument("--quick", action="store_true", help="to see that it works")
    options = parser.parse_args()
    out = options.out or (QUICK_FOLDER if options.quick else FOLDER)
    ratios: dict[str, float] = {}
    try:
        for part in options.part or PARTS:
            points = _measure(part, out, options)
            ratios |= {f"{part}: {name}": value for name, value in _ratios(points).items()}
    finally:
        if out == FOLDER:
            write(FOLDER, DOCS)
    print(json.dumps(ratios))


def _measure(part: str, out: Path, options: argparse.Namespace) -> list[dict[str, Any]]:
    measure, usual = PARTS[part]
    rounds = options.rounds or (1 if options.quick else usual)
    about = {"part": part, "quick": options.quick, "rounds": rounds}
    kept = Kept(out / f"growth-{part}.json", about)
    if options.resume:
        kept.resume()
    print(f"== {part}", flush=True)
    with tempfile.TemporaryDirectory(prefix="holdfast-growth-") as folder:
        measure(Plan(Path(folder), kept, options.quick, rounds))
    return kept.points


def _ratios(points: list[dict[str, Any]]) -> dict[str, float]:
    """Ours over the first of the others, of every point that both have."""
    found = {}
    for point in points:
        systems = list(point["found"])
        if len(systems) < 2:
            continue
        theirs, ours = point["found"][systems[0]], point["found"][systems[1]]
        for figure in ours:
            ratio = statistics.median(ours[figure]) / statistics.median(theirs[figure])
            found[f"{point['name']}: {figure}"] = round(ratio, 3)
    return found


if __name__ == "__main__":
    main()
