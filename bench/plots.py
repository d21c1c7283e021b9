"""Line plots as SVG, for documents: no library, no fonts, no script; readable on white, in grey and
where the theme is dark.

    panel = Panel(title="...", x="partitions", y="events/s", lines=[Line("ours", [(1, 2.0)])])
    Path("plot.svg").write_text(draw([panel]))

Panels are laid out in rows. Each has axes of its own, linear from zero unless it says otherwise.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from html import escape

WIDTH, HEIGHT = 460, 300
"""Of a panel."""
_LEFT, _RIGHT, _TOP, _BOTTOM = 64, 16, 64, 44
COLOURS = ("#0b62a4", "#d1541b", "#1b8a5a", "#8a3ea8", "#b08400", "#333333", "#c2185b", "#00838f")
"""Told apart by eyes that do not tell red from green; in the order of the lines."""
_DARK = {
    "#fff": "#1b1e27", "#222": "#e4e6eb", "#555": "#a8adb8", "#888": "#7d828e",
    "#e2e2e2": "#343945",
    "#0b62a4": "#5db0f5", "#d1541b": "#ff9d66", "#1b8a5a": "#4fd29a", "#8a3ea8": "#cf8fe8",
    "#b08400": "#e3bd3f", "#333333": "#d0d0d0", "#c2185b": "#ff7fae", "#00838f": "#4fd0dc",
}  # fmt: skip
"""The replacement of each colour in a dark theme."""
_DASHES = ("", "6 3", "2 3", "8 3 2 3")
"""One for each round through the colours, so that no two lines look alike."""


@dataclass(frozen=True, slots=True)
class Line:
    """Points in the order in which they are joined."""

    name: str
    points: Sequence[tuple[float, float]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Panel:
    """One plot. `x` and `y` are what stands at the axes."""

    title: str
    x: str
    y: str
    lines: Sequence[Line]
    log_x: bool = False
    log_y: bool = False
    dots: bool = False
    """Mark each point: where there are few."""
    x_ticks: Sequence[float] = ()
    """Where the x axis has ticks, if not at round numbers."""


def draw(panels: Sequence[Panel], columns: int = 2) -> str:
    """All panels as one picture."""
    columns = min(columns, len(panels))
    rows = math.ceil(len(panels) / columns)
    width, height = columns * WIDTH, rows * HEIGHT
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        f'width="{width}" height="{height}" font-family="sans-serif" font-size="11" fill="#222">',
        _dark_style(),
        f'<rect width="{width}" height="{height}" fill="#fff"/>',
    ]
    for number, panel in enumerate(panels):
        row, column = divmod(number, columns)
        parts.append(f'<g transform="translate({column * WIDTH} {row * HEIGHT})">')
        parts += _panel(panel)
        parts.append("</g>")
    return "\n".join([*parts, "</svg>", ""])


def _dark_style() -> str:
    rules = (f'[{part}="{light}"]{{{part}:{dark}}}' for light, dark in _DARK.items()
             for part in ("fill", "stroke"))  # fmt: skip
    return f"<style>@media (prefers-color-scheme:dark){{{''.join(rules)}}}</style>"


@dataclass(frozen=True, slots=True)
class _Axis:
    """From values to places between two ends."""

    low: float
    high: float
    begin: float
    end: float
    log: bool
    given: Sequence[float] = ()
    zero: float | None = None
    """Where 0 stands on a logarithmic axis, if anywhere."""

    def has(self, value: float) -> bool:
        """Returns True if the axis has room for the value."""
        return not self.log or value > 0 or (value == 0 and self.zero is not None)

    def place(self, value: float) -> float:
        share = (self._scaled(value) - self._scaled(self.low)) / (
            self._scaled(self.high) - self._scaled(self.low)
        )
        return self.begin + share * (self.end - self.begin)

    def ticks(self) -> list[float]:
        if self.given:
            return list(self.given)
        if not self.log:
            step = _step(self.high - self.low)
            first, last = math.ceil(self.low / step), math.floor(self.high / step + 1e-9)
            return [number * step for number in range(first, last + 1)]
        powers = range(math.floor(math.log10(self.low)), math.ceil(math.log10(self.high)) + 1)
        each = (1, 2, 5) if len(powers) <= 3 else (1,)
        ticks = (10.0**power * digit for power in powers for digit in each)
        return [tick for tick in ticks if self.low <= tick <= self.high]

    def _scaled(self, value: float) -> float:
        if value == 0 and self.zero is not None:
            value = self.zero
        return math.log10(value) if self.log else value


def _step(span: float) -> float:
    """A round distance that makes four to eight ticks."""
    rough = span / 6
    power = 10.0 ** math.floor(math.log10(rough))
    return next(power * digit for digit in (1, 2, 5, 10) if power * digit >= rough)


def _x_axis(panel: Panel, values: list[float]) -> _Axis:
    """A 0 on a logarithmic axis stands one power before the smallest of the others."""
    values = [*values, *panel.x_ticks]  # a tick without a point has its place, too
    smallest = min((value for value in values if value > 0), default=1.0)
    zero = smallest / 10 if panel.log_x and 0 in values else None
    shown = values if zero is None else [*values, zero]
    axis = _axis(shown, _LEFT, WIDTH - _RIGHT, panel.log_x, from_zero=False)
    return replace(axis, given=panel.x_ticks, zero=zero)


def _axis(values: list[float], begin: float, end: float, log: bool, from_zero: bool) -> _Axis:
    values = [value for value in values if value > 0] if log else values
    low, high = min(values, default=1.0), max(values, default=1.0)
    if log:
        low, high = low / 1.1, high * 1.1
    elif from_zero:
        low, high = min(low, 0.0), 1.05 * high
    if high <= low:
        high = low + 1
    return _Axis(low, high, begin, end, log)


def _panel(panel: Panel) -> list[str]:
    points = [point for line in panel.lines for point in line.points]
    x = _x_axis(panel, [p[0] for p in points])
    y = _axis([p[1] for p in points], HEIGHT - _BOTTOM, _TOP, panel.log_y, from_zero=True)
    middle = (_LEFT + WIDTH - _RIGHT) / 2
    return [
        _text(_LEFT, 18, panel.title, 'font-size="13" font-weight="bold"'),
        *_legend(panel.lines),
        *_grid(x, y),
        _text(middle, HEIGHT - 8, panel.x, 'text-anchor="middle" fill="#555"'),
        _text(0, 0, panel.y, f'text-anchor="middle" fill="#555" transform="translate(14 '
              f'{(_TOP + HEIGHT - _BOTTOM) / 2}) rotate(-90)"'),
        *(part for n, line in enumerate(panel.lines) for part in _line(n, line, panel, x, y)),
    ]  # fmt: skip


def _grid(x: _Axis, y: _Axis) -> list[str]:
    parts = []
    for tick in y.ticks():
        at = y.place(tick)
        parts.append(_stroke(x.begin, at, x.end, at, "#e2e2e2"))
        parts.append(_text(x.begin - 6, at + 4, _number(tick), 'text-anchor="end"'))
    for tick in x.ticks():
        at = x.place(tick)
        parts.append(_stroke(at, y.begin, at, y.begin + 4, "#888"))
        parts.append(_text(at, y.begin + 17, _number(tick), 'text-anchor="middle"'))
    return [*parts, _stroke(x.begin, y.begin, x.end, y.begin, "#888")]


def _line(number: int, line: Line, panel: Panel, x: _Axis, y: _Axis) -> list[str]:
    shown = [
        (x.place(at), y.place(value)) for at, value in line.points if x.has(at) and y.has(value)
    ]
    path = " ".join(f"{at:.1f},{height:.1f}" for at, height in shown)
    parts = [f'<polyline points="{path}" fill="none" stroke-width="1.6" {_look(number)}/>']
    if panel.dots:
        colour = COLOURS[number % len(COLOURS)]
        parts += [f'<circle cx="{a:.1f}" cy="{b:.1f}" r="2.6" fill="{colour}"/>' for a, b in shown]
    return parts


def _legend(lines: Sequence[Line]) -> list[str]:
    parts, at, height = [], float(_LEFT), 34.0
    for number, line in enumerate(lines):
        width = 24 + 6.2 * len(line.name)
        if at > _LEFT and at + width > WIDTH - _RIGHT:
            at, height = float(_LEFT), height + 14
        parts.append(
            f'<path d="M{at:.0f} {height - 4:.0f}h14" fill="none" stroke-width="2.4" '
            f"{_look(number)}/>"
        )
        parts.append(_text(at + 18, height, line.name))
        at += width + 6
    return parts


def _look(number: int) -> str:
    rounds, colour = divmod(number, len(COLOURS))
    return f'stroke="{COLOURS[colour]}" stroke-dasharray="{_DASHES[rounds % len(_DASHES)]}"'


def _stroke(x1: float, y1: float, x2: float, y2: float, colour: str) -> str:
    return f'<path d="M{x1:.1f} {y1:.1f}L{x2:.1f} {y2:.1f}" stroke="{colour}"/>'


def _text(x: float, y: float, text: str, more: str = "") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" {more}>{escape(text)}</text>'


def _number(value: float) -> str:
    for size, unit in ((1e9, "G"), (1e6, "M"), (1e4, "k")):
        if abs(value) >= size:
            scale = 1e3 if unit == "k" else size
            return f"{value / scale:g}{unit}"
    return f"{value:g}"
