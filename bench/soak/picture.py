"""The samples of a soak as a picture."""

from collections.abc import Sequence

from bench.plots import Line, Panel, draw
from bench.soak.verdict import AT, Sample

_PANELS = (
    ("Memory", "MB", ("memory_mb", "heap_mb")),
    ("Open file handles", "", ("handles",)),
    ("Threads", "", ("threads",)),
    ("Processor", "% of a core", ("cpu_percent",)),
    ("Latency, from sent to received", "ms", ("p50_ms", "p99_ms")),
    ("Lag of gate and raw zone", "s", ("lag_s",)),
    ("Disk", "MB", ("disk_mb",)),
)


def picture(samples: Sequence[Sample]) -> str:
    """An SVG: a panel for each kind of figure, a line for each process."""
    names = dict.fromkeys(name for sample in samples for name in sample if name != AT)
    return draw(
        [
            Panel(
                title=title,
                x="minutes",
                y=unit,
                lines=[_line(name, samples) for name in names if name.endswith(figures)],
            )
            for title, unit, figures in _PANELS
        ]
    )


def _line(name: str, samples: Sequence[Sample]) -> Line:
    process, _, figure = name.partition(".")
    label = {"latency": figure.removesuffix("_ms"), "spark-old": "old heap of it"}.get(
        process, process
    )
    return Line(label, [(s[AT] / 60, s[name]) for s in samples if name in s])
