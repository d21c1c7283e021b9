"""The page as Markdown."""

import statistics
from collections.abc import Iterable, Sequence

from bench.page.catalogue import AXES, BENCHES, PARTS, PROCESSES, Part
from bench.page.comparison import Comparison, listed, rate_text, ratio_text
from bench.page.findings import (
    Findings,
    part_failures,
    part_losses,
    series_along,
    value_at,
)
from bench.page.results import Growth, Origin

INTRODUCTION = """\
# Benchmarks

<!-- Written by `python -m bench.report` from bench/results. Change those, not this page. -->

This page compares Holdfast with systems that do the same work:

| part of Holdfast | compared with |
| --- | --- |
| broker | Apache Kafka |
| gate | Kafka Streams |
| processing (Python workers) | sentry-arroyo |

Both systems of a pair run alternately on the same machine, in one run. They share its cores with
the load and, for gate and processing, with Apache Kafka. If a point was measured more than once,
the figure is the median. `make bench` runs all benchmarks and writes this page, including its
sentences.
"""

NOT_YET = "Not measured yet."
QUICK = "**A quick run. It shows that the benchmark works; its figures mean nothing.**"


def document(findings: Findings) -> str:
    parts = [
        INTRODUCTION,
        *_losses(findings),
        *_glance(findings),
        *(line for name, part in PARTS.items() for line in _part(findings, name, part)),
        *_processes(findings),
        *_alone(findings),
        *_origins(findings),
        *_missing(findings),
    ]
    return "\n".join(parts).rstrip("\n") + "\n"


def _losses(findings: Findings) -> Iterable[str]:
    yield "## Where Holdfast loses\n"
    losses = findings.losses()
    if losses:
        yield _bullets(losses)
    elif findings.benches or findings.growth:
        yield "Holdfast is not behind in any measurement.\n"
    else:
        yield f"{NOT_YET}\n"


def _glance(findings: Findings) -> Iterable[str]:
    yield "## At a glance\n"
    rows = [
        [each.what, each.peer, _bold_if(each.loses, ratio_text(each.ratio)), each.verdict, each.aim]
        for name in BENCHES
        for each in findings.comparisons(name)
    ]
    if not rows:
        yield f"{NOT_YET}\n"
        return
    yield (
        "The ratio is Holdfast's figure divided by the other system's. Above 1 is better for "
        "rates. Below 1 is better for times and memory.\n"
    )
    yield _table(["figure", "compared with", "ratio", "result", "goal"], rows, right=(2,))


def _part(findings: Findings, name: str, part: Part) -> Iterable[str]:
    yield f"## {part.title}\n"
    yield f"{part.method}\n"
    growth = findings.growth.get(name)
    if growth is None:
        yield f"How it grows: {NOT_YET[0].lower()}{NOT_YET[1:]}\n"
        return
    if growth.origin.quick:
        yield f"{QUICK}\n"
    titles = listed([AXES[axis].title for axis in part.axes])
    yield f"![{part.title}: rates by {titles}](img/bench-{name}.svg)\n"
    yield _spread(growth)
    yield _bullets(part_failures(growth, part))
    if not part_losses(growth, part):
        yield f"Holdfast is not behind {part.peer_name} at any point.\n"
    for axis in part.axes:
        for figure in part.figures:
            yield _axis_table(growth, part, figure, axis)
        usual = next(iter(part.ours.values()))
        grown = (
            series.growth(AXES[axis].text)
            for series in series_along(growth, part, axis)
            if series.ours == usual
        )
        yield _bullets(sentence for sentence in grown if sentence is not None)


def _spread(growth: Growth) -> str:
    """How much the figures vary between rounds."""
    if growth.rounds < 2 or not growth.spreads:
        return "Each point was measured once.\n"
    usual, largest = statistics.median(growth.spreads), max(growth.spreads)
    return (
        f"Each point was measured in {growth.rounds} rounds. The best round was typically "
        f"{ratio_text(usual)} times the worst, and {ratio_text(largest)} times at most. Smaller "
        "differences are noise.\n"
    )


def _axis_table(growth: Growth, part: Part, figure: str, axis: str) -> str:
    swept, [first, *others] = part.figures[figure], part.ours
    head = [
        f"{swept.what}, {swept.unit}, by {AXES[axis].title}", part.peer_name, part.ours[first],
        "ratio", *(part.ours[system] for system in others),
    ]  # fmt: skip
    rows = []
    for place in growth.along(axis):
        theirs, ours = value_at(place, part.peer, figure), value_at(place, first, figure)
        rows.append([
            AXES[axis].text.number(place.on[axis]), _rate(theirs), _rate(ours),
            _ratio(ours, theirs), *(_rate(value_at(place, system, figure)) for system in others),
        ])  # fmt: skip
    return _table(head, rows, right=range(len(head)))


def _processes(findings: Findings) -> Iterable[str]:
    yield "## Memory and start\n"
    yield (
        "Memory is the total of all processes of a system, with shared pages counted once. The "
        "load is a million messages for a broker and a worker, and two million events for a gate. "
        "The JVMs of Apache Kafka, Kafka Streams and Spark have a heap of 1 GiB. The start is "
        "measured over existing data, from the start of the process until it has processed the "
        "first event.\n"
    )
    for name, (unit, _) in PROCESSES.items():
        found = findings.processes(name)
        if not found:
            yield f"{name.capitalize()}: {NOT_YET[0].lower()}{NOT_YET[1:]}\n"
            continue
        if findings.growth[name].origin.quick:
            yield f"{QUICK}\n"
        rows = [
            [each.what, f"{each.peer}: {rate_text(theirs)} {unit}", f"{rate_text(ours)} {unit}",
             _bold_if(each.loses, ratio_text(each.ratio))]
            for each, ours, theirs in found
        ]  # fmt: skip
        yield _table([name, "compared with", "Holdfast", "ratio"], rows, right=(1, 2, 3))


def _alone(findings: Findings) -> Iterable[str]:
    yield "## Other measurements\n"
    rows = [
        [known.what, f"{value:g} {known.unit}".strip()]
        for name in BENCHES
        for known, value in findings.alone(name)
    ]
    yield _table(["figure", "value"], rows, right=(1,)) if rows else f"{NOT_YET}\n"


def _origins(findings: Findings) -> Iterable[str]:
    yield "## Where and when it was measured\n"
    rows = [
        [f"`{bench.command}`", bench.origin.measured, f"`{bench.origin.commit}`",
         _quick(bench.origin), ""]
        for bench in findings.benches.values()
    ] + [
        [f"`python -m bench.growth --part {name}`", growth.origin.measured,
         f"`{growth.origin.commit}`", _quick(growth.origin), str(growth.rounds)]
        for name, growth in findings.growth.items()
    ]  # fmt: skip
    if not rows:
        yield f"{NOT_YET}\n"
        return
    yield _table(["command", "date", "commit", "", "rounds"], rows, right=(4,))
    yield "A plus sign after a commit: the code had uncommitted changes.\n"
    origins = [
        *(bench.origin for bench in findings.benches.values()),
        *(growth.origin for growth in findings.growth.values()),
    ]
    machines = {tuple(origin.machine.items()): origin.machine for origin in origins}
    for machine in machines.values():
        yield _table(["machine", ""], [[name, value] for name, value in machine.items()])


def _missing(findings: Findings) -> Iterable[str]:
    missing = findings.missing()
    if missing:
        yield "## Not measured yet\n"
        yield _bullets(f"`{command}`" for command in missing)


def _quick(origin: Origin) -> str:
    return "quick run, not a measurement" if origin.quick else ""


def _rate(value: float | None) -> str:
    return "failed" if value is None else rate_text(value)


def _ratio(ours: float | None, theirs: float | None) -> str:
    if ours is None or theirs is None:
        return ""
    comparison = Comparison(what="", peer="", better="more", ratio=ours / theirs)
    return _bold_if(comparison.loses, ratio_text(comparison.ratio))


def _bold_if(bold: bool, text: str) -> str:
    return f"**{text}**" if bold else text


def _bullets(lines: Iterable[str]) -> str:
    return "".join(f"- {line}\n" for line in lines)


def _table(head: Sequence[str], rows: Iterable[Sequence[str]], right: Iterable[int] = ()) -> str:
    right = set(right)
    rule = ["--:" if column in right else "---" for column in range(len(head))]
    return "".join(f"| {' | '.join(row)} |\n" for row in [head, rule, *rows])
