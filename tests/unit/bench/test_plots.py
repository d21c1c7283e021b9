"""Plots show what they are given, and are well-formed pictures."""

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


def test_value_that_has_no_place_on_a_logarithmic_axis_is_left_out() -> None:
    assert (
        len(heights(drawn(panel(Line("ours", [(0, 5), (1, 0), (2, 7), (3, 9)]), log_y=True)))) == 3
    )


def test_no_two_lines_look_alike() -> None:
    count = 2 * len(COLOURS)
    picture = drawn(panel(*(Line(f"line {n}", [(0, n), (1, n)]) for n in range(count))))
    looks = {
        (line.attrib["stroke"], line.attrib["stroke-dasharray"])
        for line in picture.iter(f"{SVG}polyline")
    }
    assert len(looks) == count


def test_names_are_shown_as_they_are() -> None:
    picture = drawn(panel(Line("a <b> & c", [(0, 1)])))
    assert "a <b> & c" in [text.text for text in picture.iter(f"{SVG}text")]


def test_panels_stand_side_by_side_in_rows() -> None:
    picture = drawn(*[panel(Line("web", [(0, 1), (1, 1)]))] * 3)
    assert picture.attrib["viewBox"] == f"0 0 {2 * WIDTH} {2 * HEIGHT}"


@pytest.mark.parametrize("points", [[], [(0.0, 0.0)], [(5.0, -3.0), (5.0, -3.0)], [(0.0, 1e-9)]])
@pytest.mark.parametrize("log", [False, True])
def test_little_or_nothing_to_show_is_no_error(
    points: list[tuple[float, float]], log: bool
) -> None:
    drawn(panel(Line("web", points), log_x=log, log_y=log, dots=True))
