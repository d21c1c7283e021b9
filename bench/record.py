"""Run a benchmark, and keep its last line among the results.

    python -m bench.record gate --rounds 3            # the benchmark's own options follow its name
    python -m bench.record gate --output FILE         # keep what an earlier run has printed; given
                                                      # more than once: of one that was run in parts

The result is written to `<name>.json` of the results' folder (of a quick run: `build/bench`), with
the machine, the versions, the commit and the options; `docs/benchmarks.md` is generated from it.
"""

import argparse
import json
import subprocess
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from bench.report import DOCS, write
from bench.results import FOLDER, QUICK_FOLDER
from bench.results.machine import commit, machine

BENCHES = ["broker", "gate", "processing", "client", "lake", "api"]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,  # what is not ours is the benchmark's, as it is
    )
    parser.add_argument("bench", choices=BENCHES)
    parser.add_argument("--output", type=Path, action="append", help="of an earlier run")
    parser.add_argument("--out", type=Path, help="the results' folder")
    options, more = parser.parse_known_args()
    if options.output is None:
        measured = datetime.now(UTC)
        printed = [_run(options.bench, more)]
    else:
        latest = max(file.stat().st_mtime for file in options.output)
        measured = datetime.fromtimestamp(latest, UTC)
        printed = [file.read_text() for file in options.output]
    out = options.out or (QUICK_FOLDER if "--quick" in more else FOLDER)
    keep(out, options.bench, more, measured, printed)
    if out == FOLDER:
        write(FOLDER, DOCS)


def keep(
    folder: Path, bench: str, arguments: Sequence[str], measured: datetime, printed: Sequence[str]
) -> Path:
    """Keep the last line of what a benchmark has printed, or of each of its parts. -> the file"""
    figures: dict[str, object] = {}
    for output in printed:
        figures |= json.loads(output.strip().splitlines()[-1])
    content = {
        "measured": measured.isoformat(timespec="minutes"),
        "commit": commit(measured),
        "machine": machine(),
        "bench": bench,
        "command": " ".join(["python -m", f"bench.{bench}", *arguments]),
        "quick": "--quick" in arguments,
        "figures": {k: v for k, v in figures.items() if type(v) in (int, float)},
    }
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{bench}.json"
    file.write_text(json.dumps(content, indent=1) + "\n")
    return file


def _run(bench: str, arguments: Sequence[str]) -> str:
    """Run it, showing what it prints. -> the same"""
    command = [sys.executable, "-m", f"bench.{bench}", *arguments]
    printed = []
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for line in process.stdout:
            print(line, end="", flush=True)
            printed.append(line)
    if process.returncode:
        raise SystemExit(process.returncode)
    return "".join(printed)


if __name__ == "__main__":
    main()
