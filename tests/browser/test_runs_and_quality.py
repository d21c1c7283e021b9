"""Runs are asked for and followed on their pages; checks are shown with their verdicts."""

from playwright.sync_api import Page, expect
from tests.browser.axe import serious, serious_in_both_themes
from tests.browser.chromium import fetch
from tests.browser.conftest import FLOW, Stack
from tests.clients import DEADLINE_S, wait_until

from holdfast.client.connection import Connection
from holdfast.client.runs import store_report
from holdfast.client.settings import ClientSettings
from holdfast.flows.quality import CheckResult, QualityReport

RUN_WITHIN_MS = 180_000
"""A deadline, not a measure: Spark reads the raw zone beside whatever else runs."""


def test_replay_is_asked_for_followed_to_its_end_and_listed(
    page: Page, stack: Stack, stem: str
) -> None:
    stack.client.send(f"{FLOW}.events", {"type": "again"}, key=f"{stem}-again").result(DEADLINE_S)
    page.goto(f"/runs?flow={FLOW}")
    page.get_by_role("button", name="Replay").click()
    dialog = page.get_by_role("dialog", name=f"Replay events of {FLOW}")
    dialog.get_by_role("textbox", name="Keys").fill(f"{stem}-again")
    assert not serious(page), "replay dialog"
    expect(dialog.get_by_label("Dry run: only show what would be sent")).to_be_checked()
    dialog.get_by_role("button", name="Replay").click()

    body = page.locator("#run")
    expect(body).to_contain_text(f"{stem}-again")
    expect(body.get_by_text("DONE", exact=True)).to_be_visible(timeout=RUN_WITHIN_MS)
    expect(body.get_by_role("button", name="Cancel")).to_have_count(0)
    assert not serious_in_both_themes(page), "one run"
    run = page.get_by_role("heading", level=1).inner_text()

    page.goto(f"/runs?flow={FLOW}")
    row = page.locator("#runs tbody tr").filter(has=page.get_by_role("link", name=run))
    expect(row.get_by_text("DONE", exact=True)).to_be_visible()
    assert not serious_in_both_themes(page), "runs"
    page.get_by_role("button", name="Backfill").click()
    assert not serious(page), "backfill dialog"


def test_checks_are_shown_with_verdicts_failed_ones_first(
    page: Page, stack: Stack, stem: str
) -> None:
    never, failed = f"a-{stem}", f"b-{stem}"
    for name in (never, failed):
        stack.client.flow(name).create(partitions=1, checks=["required id", "fresh 1h"])

        def shown(name: str = name) -> bool:
            return fetch(page, f"/flows/{name}").ok

        wait_until(shown, f"the flow {name}")
    page.goto("/quality")
    card = page.get_by_role("region", name=never)
    expect(card.get_by_text("Not run", exact=True)).to_be_visible()
    expect(card).to_contain_text("Declared checks: required id; fresh 1h")

    results = (
        CheckResult("required id", False, 5, 2, f"2 events lack it <b>{stem}</b>"),
        CheckResult("fresh 1h", True, 5, 0, "the newest is 3 s old"),
    )
    connection = Connection(ClientSettings(bootstrap=stack.broker))
    store_report(connection, QualityReport(failed, 1_767_225_600_000, 5, results))
    wait_until(lambda: "2 events lack it" in fetch(page, "/quality").text(), "the report")
    page.goto("/quality")
    names = page.locator("main section h2").all_inner_texts()
    assert names.index(failed) < names.index(never)
    rows = page.locator("main section").filter(has=page.get_by_role("link", name=failed))
    expect(rows.get_by_role("row", name="required id")).to_contain_text("FAILED")
    expect(rows.get_by_role("row", name="required id")).to_contain_text(f"lack it <b>{stem}</b>")
    expect(rows.get_by_role("row", name="fresh 1h")).to_contain_text("PASSED")
    assert not serious_in_both_themes(page)
    page.set_viewport_size({"width": 390, "height": 844})
    overflow = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    assert page.evaluate(overflow) <= 0, "it scrolls sideways on a phone"
