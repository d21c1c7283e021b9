"""Make the page of the benchmarks, with its plots, from the results that there are.

    python -m bench.report

Reads bench/results, writes docs/benchmarks.md and docs/img/bench-*.svg.
"""

import argparse
from pathlib import Path

from bench.page.catalogue import PARTS
from bench.page.document import document
from bench.page.findings import Findings
from bench.page.plots import plot
from bench.results import FOLDER
from bench.results.machine import PROJECT

DOCS = PROJECT / "docs"


def write(results: Path, docs: Path) -> Path:
    """Write page and plots. -> the page"""
    findings = Findings.read(results)
    pictures = docs / "img"
    pictures.mkdir(parents=True, exist_ok=True)
    for name, part in PARTS.items():
        if name in findings.growth:
            (pictures / f"bench-{name}.svg").write_text(plot(findings.growth[name], part))
    page = docs / "benchmarks.md"
    page.write_text(document(findings))
    return page


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--results", type=Path, default=FOLDER)
    parser.add_argument("--docs", type=Path, default=DOCS)
    options = parser.parse_args()
    print(f"Written: {write(options.results, options.docs)}")


if __name__ == "__main__":
    main()
