"""Plots show what they are given, and are well-formed pictures."""

import re
from xml.etree import ElementTree

import pytest
from bench.plots import COLOURS, HEIGHT, WIDTH, Line, Panel, draw

SVG = "{http://www.w3.org/2000/svg}"


def drawn(*panels: Panel) -> ElementTree.Element:
    return ElementTree.fromstring(draw(panels))


def panel(*lines: Line, **more: bool) -> Panel:
    return Panel(title="Memory", x="minutes", y="MB", lines=lines, **more)  # type: ignore[arg-type]


def heights(picture: ElementTree.Element) -> list[float]:
    (line,) = picture.iter(f"{SVG}polyline")
    return [float(point.split(",")[1]) for point in line.attrib["points"].split()]


def test_each_line_is_drawn_through_all_of_its_points_inside_its_panel() -> None:
    picture = drawn(panel(Line("web", [(0, 0), (10, 50), (20, 100)])))
    low, middle, high = heights(picture)
    assert HEIGHT > low > middle > high > 0
    assert middle == pytest.approx((low + high) / 2, abs=0.2)


def test_logarithmic_axis_gives_each_power_the_same_room() -> None:
    picture = drawn(panel(Line("ours", [(1, 10), (2, 100), (3, 1_000)]), log_y=True))
    low, middle, high = heights(picture)
    assert low - middle == pytest.approx(middle - high, abs=0.2)


def test_value_below_a_logarithmic_axis_is_left_out() -> None:
    assert (
        len(heights(drawn(panel(Line("ours", [(0, 5), (1, 0), (2, 7), (3, 9)]), log_y=True)))) == 3
    )


def test_zero_is_drawn_one_power_before_the_first() -> None:
    points = [(0, 1), (1_000, 1), (10_000, 1)]
    picture = drawn(panel(Line("held", points), log_x=True))
    (line,) = picture.iter(f"{SVG}polyline")
    zero, first, second = (float(at.split(",")[0]) for at in line.attrib["points"].split())
    assert first - zero == pytest.approx(second - first, abs=0.2)


def test_axis_has_the_ticks_that_it_is_given() -> None:
    points = [(1, 5), (24, 6)]
    wanted = Panel(title="t", x="partitions", y="/s", lines=[Line("a", points)], x_ticks=(1, 24))
    shown = [text.text for text in drawn(wanted).iter(f"{SVG}text")]
    assert "1" in shown
    assert "24" in shown
    assert "10" not in shown


def test_every_colour_has_another_on_a_dark_page() -> None:
    picture = draw([panel(Line("web", [(0, 1), (1, 2)]), dots=True)])
    used = set(re.findall(r'(?:fill|stroke)="(#\w+)"', picture.partition("</style>")[2]))
    assert used
    for colour in used:
        assert f'[fill="{colour}"]' in picture
        assert f'[stroke="{colour}"]' in picture


def test_no_two_lines_look_alike() -> None:
    count = 2 * len(COLOURS)
    picture = drawn(panel(*(Line(f"line {n}", [(0, n), (1, n)]) for n in range(count))))
    looks = {
        (line.attrib["stroke"], line.attrib["stroke-dasharray"])
        for line in picture.iter(f"{SVG}polyline")
    }
    assert len(looks) == count


def test_names_are_shown_unchanged() -> None:
    picture = drawn(panel(Line("a <b> & c", [(0, 1)])))
    assert "a <b> & c" in [text.text for text in picture.iter(f"{SVG}text")]


def test_panels_stand_side_by_side_in_rows() -> None:
    picture = drawn(*[panel(Line("web", [(0, 1), (1, 1)]))] * 3)
    assert picture.attrib["viewBox"] == f"0 0 {2 * WIDTH} {2 * HEIGHT}"


@pytest.mark.parametrize("points", [[], [(0.0, 0.0)], [(5.0, -3.0), (5.0, -3.0)], [(0.0, 1e-9)]])
@pytest.mark.parametrize("log", [False, True])
def test_plot_of_few_or_no_points_is_not_an_error(
    points: list[tuple[float, float]], log: bool
) -> None:
    drawn(panel(Line("web", points), log_x=log, log_y=log, dots=True))
