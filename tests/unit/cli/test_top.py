"""The screen of `holdfast top`."""

from rich.console import Console, RenderableType

from holdfast.cli.top import _next_flow
from holdfast.cli.top_figures import Figures, FlowFigures, KeyFigures, SortOrder, as_document
from holdfast.cli.top_screen import screen
from holdfast.flows.status import KeyState
from holdfast.views.keys import KeyRow

NOW = 1_000_000


def flow(
    name: str, *, health: str = "running", reason: str = "", failing: int | None = None
) -> FlowFigures:
    """`failing`: the failing keys of a guard."""
    return FlowFigures(
        flow=name,
        health=health,
        reason=reason,
        in_per_second=1200.5,
        out_per_second=30.0,
        held_per_second=1.5,
        lag=12345,
        held_keys=2,
        held_events=4412,
        held_bytes=23_000_000,
        oldest=NOW - 90_000,
        guard=failing is not None,
        failing_keys=failing or 0,
    )


def key(name: bytes, *, events: int = 7, reason: str = "disputed") -> KeyFigures:
    row = KeyRow(key=name, state=KeyState.HELD, actor="maya", reason=reason, since=NOW - 3_700_000,
                 expires_at=NOW + 59_000, events=events, bytes=1500,
                 oldest=NOW - 5_000)  # fmt: skip
    return KeyFigures("orders", row)


def drawn(what: RenderableType, width: int) -> list[str]:
    console = Console(width=width, color_system=None)
    with console.capture() as capture:
        console.print(what)
    return [line.rstrip() for line in capture.get().splitlines()]


def test_figures_are_whole_on_the_narrowest_terminal() -> None:
    figures = Figures((flow("orders"),), (key(b"customer-7"),))
    text = "\n".join(
        drawn(screen(figures, now=NOW, order=SortOrder.EVENTS, only=None, width=80), 80)
    )
    for part in ("orders", "1200.5", "12345", "4412", "23.0 MB", "1m", "customer-7", "HELD",
                 "1.5 kB", "59s"):  # fmt: skip
        assert part in text, part


def test_failing_keys_of_guards_have_a_column() -> None:
    def rows(*flows: FlowFigures) -> list[list[str]]:
        shown = screen(Figures(flows, ()), now=NOW, order=SortOrder.EVENTS, only=None, width=120)
        return [line.split() for line in drawn(shown, 120) if line][1:]

    head, orders, billing = rows(flow("orders"), flow("billing", failing=17))
    assert (head[-1], orders[-1], billing[-1]) == ("failing", "-", "17")
    head, _ = rows(flow("orders"))
    assert head[-1] == "oldest"


def test_a_screen_has_no_more_lines_than_the_terminal() -> None:
    flows = (flow("orders"), flow("payments", health="failed", reason="Spark is gone."))
    figures = Figures(flows, tuple(key(b"customer-%03d" % n) for n in range(500)))
    for lines in (12, 24, 60):
        shown = drawn(
            screen(figures, now=NOW, order=SortOrder.EVENTS, only=None, lines=lines, width=120), 120
        )
        assert len(shown) <= lines
        assert any("more" in line for line in shown)
        assert any("payments: Spark is gone." in line for line in shown)


def test_control_characters_of_others_cannot_move_the_cursor() -> None:
    figures = Figures((flow("orders"),), (key(b"a\x1b[31mb\r\n", reason="x\x1b]0;title\x07"),))
    shown = drawn(screen(figures, now=NOW, order=SortOrder.KEY, only=None, width=200), 200)
    assert not any(char in line for line in shown for char in "\x1b\r\x07")
    assert any(r"a\x1b[31mb\r\n" in line for line in shown)


def test_trouble_is_on_the_first_lines() -> None:
    shown = drawn(
        screen(
            Figures((), (), "No broker answers."), now=NOW, order=SortOrder.KEY, only=None, width=80
        ),
        80,
    )
    assert shown[0] == "No broker answers."


def test_scripts_get_every_key_in_a_form_that_they_can_read() -> None:
    document = as_document(Figures((flow("orders"),), (key(b"plain"), key(b"\xff"))))
    assert [k.get("key") or k.get("key_base64") for k in document["keys"]] == ["plain", "/w=="]
    assert document["flows"][0]["lag"] == 12345


def test_sort_order_and_flow_cycle_on_each_press() -> None:
    order = SortOrder.EVENTS
    for _ in SortOrder:
        order = order.next
    assert order is SortOrder.EVENTS
    names = ["a", "b"]
    assert _next_flow(None, names) == "a"
    assert _next_flow("a", names) == "b"
    assert _next_flow("b", names) is None
    assert _next_flow("gone", names) is None
