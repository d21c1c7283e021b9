"""A benchmark of this tree against the same benchmark of an earlier commit: alternating, medians.

    python -m bench.against HEAD~1 gate --quick --only holdfast    # options of the benchmark follow

The earlier commit is checked out into a temporary folder and uses this tree's environment and
jars. The last line printed is one line of JSON: each figure of both sides, as this tree over the
earlier commit.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

TREE = Path(__file__).resolve().parent.parent
SHARED = (".venv", ".jars")

Figures = Mapping[str, float]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,  # unknown options are passed to the benchmark
    )
    parser.add_argument("revision", help="the earlier commit")
    parser.add_argument("bench", help="name of the benchmark")
    parser.add_argument("--alternations", type=int, default=3, help="runs of each side (3)")
    options, arguments = parser.parse_known_args()
    before: list[Figures] = []
    now: list[Figures] = []
    with checked_out(options.revision) as earlier:
        for number in range(options.alternations):
            for name, tree, runs in (("before", earlier, before), ("now", TREE, now)):
                runs.append(run(tree, options.bench, arguments))
                print(
                    f"{number + 1}/{options.alternations} {name}: {json.dumps(runs[-1])}",
                    flush=True,
                )
    print(json.dumps(ratios(before, now)))


def ratios(before: Sequence[Figures], now: Sequence[Figures]) -> dict[str, float]:
    """Medians of this tree over those before, for figures that every run has and are not zero."""
    names = [name for name in before[0] if all(name in run for run in [*before, *now])]
    medians = {
        name: (statistics.median(run[name] for run in now),
               statistics.median(run[name] for run in before))
        for name in names
    }  # fmt: skip
    return {name: round(new / old, 3) for name, (new, old) in medians.items() if old}


@contextmanager
def checked_out(revision: str) -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="holdfast-before-") as name:
        folder = Path(name) / "tree"
        subprocess.run(["git", "clone", "-q", "--shared", str(TREE), str(folder)], check=True)
        subprocess.run(["git", "-C", str(folder), "checkout", "-q", revision], check=True)
        for shared in SHARED:
            (folder / shared).symlink_to(TREE / shared)
        yield folder


def run(tree: Path, bench: str, arguments: Sequence[str]) -> Figures:
    """Runs the benchmark of a tree. Returns the figures of its last line."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(tree / "src"), str(tree)])}
    command = [sys.executable, "-m", f"bench.{bench}", *arguments]
    printed = subprocess.run(
        command, cwd=tree, env=environment, stdout=subprocess.PIPE, text=True, check=True
    ).stdout
    figures = json.loads(printed.strip().splitlines()[-1])
    return {name: value for name, value in figures.items() if type(value) in (int, float)}


if __name__ == "__main__":
    main()
