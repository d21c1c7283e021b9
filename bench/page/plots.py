"""The plots of a sweep."""

from bench.page.catalogue import AXES, Part, Swept
from bench.page.findings import value_at
from bench.page.results import Growth
from bench.plots import Line, Panel, draw


def plot(growth: Growth, part: Part) -> str:
    """A panel for each figure along each axis, as one picture."""
    return draw(
        [
            panel(growth, part, figure, swept, axis)
            for axis in part.axes
            for figure, swept in part.figures.items()
        ]
    )


def panel(growth: Growth, part: Part, figure: str, swept: Swept, axis: str) -> Panel:
    """The y axis is logarithmic along event sizes: rates of large events are a hundredth of those
    of small ones."""
    places = growth.along(axis)
    lines = []
    first, *others = part.ours.items()
    for system, name in [first, (part.peer, part.peer_name), *others]:
        values = [(place.on[axis], value_at(place, system, figure)) for place in places]
        lines.append(Line(name, [(at, value) for at, value in values if value is not None]))
    return Panel(
        title=f"{swept.what[0].upper()}{swept.what[1:]} by {AXES[axis].title}",
        x=AXES[axis].title + (", bytes" if AXES[axis].text.size else ""),
        y=swept.unit,
        lines=lines,
        log_x=True,
        log_y=axis == "size",
        dots=True,
        x_ticks=[place.on[axis] for place in places],
    )
