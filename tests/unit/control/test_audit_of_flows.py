"""The audits of several flows in one list."""

from dataclasses import replace
from random import Random

from holdfast.control.audit import FlowRow, _cursor_in, merged
from holdfast.views.audit import AuditPage, AuditQuery, AuditRow, read_cursor, write_cursor


def page_of(rows: list[AuditRow], query: AuditQuery) -> AuditPage:
    """What the audit of one flow answers."""
    before = None if query.cursor is None else read_cursor(query.cursor)
    left = [row for row in rows if before is None or row.sort_key < before]
    shown = sorted(left, key=lambda row: row.sort_key, reverse=True)[: query.limit]
    more = len(left) > len(shown)
    return AuditPage(tuple(shown), write_cursor(shown[-1]) if more else None)


def test_pages_of_all_flows_have_every_row_once_and_in_order() -> None:
    chance = Random(7)
    flows = {
        flow: [
            AuditRow(log="control", partition=0, offset=offset, at=chance.randrange(20))
            for offset in range(40)
        ]
        for flow in ("billing", "orders", "shop")
    }
    query, seen = AuditQuery(limit=7), list[FlowRow]()
    while True:
        page = merged(
            {
                flow: page_of(rows, replace(query, cursor=_cursor_in(query, flow)))
                for flow, rows in flows.items()
            },
            query.limit,
        )
        seen += page.rows
        if page.cursor is None:
            break
        query = replace(query, cursor=page.cursor)
    everything = [FlowRow(flow, row) for flow, rows in flows.items() for row in rows]
    assert seen == sorted(everything, key=lambda found: found.sort_key, reverse=True)


def test_flow_whose_search_stopped_early_hides_what_may_be_out_of_order() -> None:
    old, new = (
        AuditRow(log="control", partition=0, offset=0, at=at, actor="ana") for at in (5, 50)
    )
    pages = {
        "orders": AuditPage((), "30.control.0.0", stopped_early=True),
        "shop": AuditPage((new, old), None),
    }
    page = merged(pages, 10)
    assert page.rows == (FlowRow("shop", new),)
    assert page.stopped_early
    assert page.cursor == "30.control.0.0.orders"
