"""The table of keys: its pages are addresses that can be shared."""

from urllib.parse import parse_qs

from holdfast.dashboard.pages.flow import PAGE, KeyFilter, KeyTable, key_table
from holdfast.flows.registry import FlowDefinition
from holdfast.flows.status import Active, Entry, KeyState
from holdfast.views.flow_view import FlowView
from holdfast.views.keys import KeySort


def a_view(keys: int) -> FlowView:
    view = FlowView(FlowDefinition(name="orders", partitions=1, created_at=1))
    for number in range(keys):
        view.take_status(0, held(number))
    return view


def held(number: int) -> Entry:
    return Entry(
        key=b"%03d" % number, state=KeyState.HELD, command_id="h", actor="ana", since=number,
        cut=0, held_from=0, drained_through=-1,
    )  # fmt: skip


def shown(table: KeyTable) -> list[str]:
    return [line.name.text for line in table.lines]


def at(chosen: KeyFilter, address: str | None) -> KeyFilter:
    """The filter that a link leads to."""
    assert address is not None
    (cursor,) = parse_qs(address).get("cursor", [None])
    return chosen.at(cursor)


def test_previous_leads_back_to_the_page_before_and_first_to_the_first() -> None:
    view, chosen = a_view(3 * PAGE), KeyFilter(sort=KeySort.KEY, descending=False)
    first = key_table(view, chosen)
    assert (first.first, first.previous) == (None, None)
    second = key_table(view, at(chosen, first.next))
    third = key_table(view, at(chosen, second.next))
    assert third.next is None
    assert shown(key_table(view, at(chosen, third.previous))) == shown(second)
    assert shown(key_table(view, at(chosen, second.previous))) == shown(first)
    assert shown(key_table(view, at(chosen, third.first))) == shown(first)


def test_page_of_removed_rows_shows_the_first_page() -> None:
    view, chosen = a_view(PAGE + 1), KeyFilter(sort=KeySort.KEY, descending=False)
    second = at(chosen, key_table(view, chosen).next)
    assert shown(key_table(view, second)) == [f"{PAGE:03}"]
    view.take_status(0, Active(b"%03d" % PAGE))
    assert len(key_table(view, second).lines) == PAGE
