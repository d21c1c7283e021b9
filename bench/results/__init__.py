"""Results as they were measured, a file for each benchmark. `python -m bench.report` shows them."""

from pathlib import Path

FOLDER = Path(__file__).parent
QUICK_FOLDER = FOLDER.parents[1] / "build" / "bench"
"""The folder of quick runs, whose results are not kept."""
