"""The whole system at half of its peak rate, and whether anything grows.

    python -m bench.soak --minutes 30      # the peak is found first, which takes a minute
    python -m bench.soak --rate 5000       # at this many events a second instead

`holdfast up` with two flows, keys of which are held and released all the time, four tabs at the
dashboard and the API, and a StreamProcessor worker downstream. Every few seconds memory, file
handles, threads and processor of each process are sampled, the disk, the lag, and the latency from
sending to a read_committed consumer. Afterwards each event must have come out exactly once.

Written to `--out`: `samples.json`, `soak.svg`, and the logs. The last line printed is one line of
JSON; the exit code is 1 if a line is not flat (see `verdict`).
"""

import argparse
import json
import os
import platform
import shutil
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path
from typing import Any

from bench.soak.picture import picture
from bench.soak.run import Soak, run
from bench.soak.verdict import Verdict, judge

OUT = Path("build/soak")


def main() -> int:
    options = _parser().parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    soak = Soak()
    with tempfile.TemporaryDirectory(prefix="holdfast-soak-", dir=options.work) as name:
        folder = Path(name)
        try:
            run(folder, soak, 60 * options.minutes, options.every, options.rate, _say)
        finally:  # of a run that failed, this is what there is to look at
            for log in folder.glob("*.log"):
                shutil.copy(log, options.out)
            _write(options.out, soak)
    verdicts = judge(soak.samples)
    print("\n".join(table(verdicts)))
    summary = summarise(soak, verdicts)
    print(json.dumps(summary), flush=True)
    return 0 if summary["flat"] else 1


def table(verdicts: list[Verdict]) -> list[str]:
    """A row for each line: medians of the second and the last third, and the growth."""
    rows = [f"{'line':28} {'second':>10} {'last':>10} {'growth':>8} {'per hour':>10}"]
    words = {True: "flat", False: "GROWS", None: "grows by design"}
    rows += [
        f"{v.line:28} {v.middle:10,.1f} {v.last:10,.1f} {v.growth_percent:+7.1f}% "
        f"{v.per_hour:+10,.1f}  {words[v.flat]}"
        for v in verdicts
    ]
    return rows


def summarise(soak: Soak, verdicts: list[Verdict]) -> dict[str, Any]:
    last = {v.line: round(v.last, 1) for v in verdicts}
    growing = [v.line for v in verdicts if v.flat is False]
    return {
        "minutes": round(soak.samples[-1]["at"] / 60, 1),
        "rate": round(soak.rate),
        "peak": None if soak.peak is None else round(soak.peak),
        "sent": soak.sent,
        "lost": 0,
        "flat": not growing,
        "growing": growing,
        "p50_ms": last.get("latency.p50_ms"),
        "p99_ms": last.get("latency.p99_ms"),
        "memory_growth_percent": {
            v.line.removesuffix(".memory_mb"): round(v.growth_percent, 1)
            for v in verdicts
            if v.line.endswith(".memory_mb")
        },
    }


def _write(folder: Path, soak: Soak) -> None:
    if not soak.samples:
        return
    document = {
        "machine": f"{platform.platform()}, {os.cpu_count()} cores",
        **asdict(soak),
        "verdicts": [asdict(v) | {"growth_percent": v.growth_percent} for v in judge(soak.samples)],
    }
    (folder / "samples.json").write_text(json.dumps(document, indent=1))
    (folder / "soak.svg").write_text(picture(soak.samples))


def _say(line: str) -> None:
    print(line, flush=True)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m bench.soak",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--minutes", type=float, default=30.0, help="of load (30)")
    parser.add_argument("--rate", type=float, help="events a second, instead of half of the peak")
    parser.add_argument("--every", type=float, default=5.0, help="seconds between samples (5)")
    parser.add_argument("--out", type=Path, default=OUT, help=f"where to write ({OUT})")
    parser.add_argument("--work", type=Path, help="folder below which it works, for another disk")
    return parser


if __name__ == "__main__":
    sys.exit(main())
