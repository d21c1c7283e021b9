"""Ten thousand held keys: the page shows a part, and finds the rest."""

import re

import httpx
from playwright.sync_api import Page, expect
from tests.browser.conftest import FLOW, Stack
from tests.clients import DEADLINE_S, wait_until

KEYS = 10_000


def test_page_stays_usable_at_ten_thousand_held_keys(page: Page, stack: Stack, stem: str) -> None:
    keys = [f"{stem}-{number:05}" for number in range(KEYS)]
    answer = httpx.post(
        f"{stack.url}/api/v1/flows/{FLOW}/commands",
        json={"command": "hold", "keys": keys, "reason": "a crowd"},
        timeout=DEADLINE_S,
    )
    assert answer.is_success, answer.text[:500]

    def held() -> int:
        query: dict[str, str | int] = {"text": stem, "state": "HELD", "limit": 1}
        listed = httpx.get(
            f"{stack.url}/api/v1/flows/{FLOW}/keys", params=query, timeout=DEADLINE_S
        )
        return int(listed.json()["total"])

    wait_until(lambda: held() == KEYS, "all held", 120)
    page.goto(f"/flows/{FLOW}?text={stem}&sort=key&order=asc")
    rows = page.locator("#keys tbody tr")
    expect(rows).to_have_count(25)
    expect(page.locator("#keys footer")).to_contain_text("25 of 10,000")
    page.get_by_role("link", name="Next page").click()
    expect(rows.first).to_contain_text(f"{stem}-00025")
    page.get_by_role("link", name="Next page").click()
    expect(rows.first).to_contain_text(f"{stem}-00050")
    page.get_by_role("link", name="Previous page").click()
    expect(rows.first).to_contain_text(f"{stem}-00025")
    page.reload()  # the address is all there is to it
    expect(rows.first).to_contain_text(f"{stem}-00025")
    page.get_by_role("link", name="Previous page").click()
    expect(rows.first).to_contain_text(f"{stem}-00000")
    expect(page.get_by_role("link", name="Previous page")).to_have_count(0)
    page.wait_for_load_state()
    page.locator("#key-search").fill(f"{stem}-09")
    expect(page.locator("#keys footer")).to_contain_text("25 of 1,000")
    expect(page).to_have_url(re.compile(f"text={stem}-09"))
    page.locator("#key-search").fill(f"{stem}-09999")
    expect(rows).to_have_count(1)

    page.locator("#key-search").fill(f"{stem}-0123")
    expect(rows).to_have_count(10)
    page.goto(f"/flows/{FLOW}?text={stem}")
    page.get_by_label("Select all on this page").check()
    page.get_by_text("all 10,000 that match").click()
    page.get_by_role("toolbar").get_by_role("button", name="Release…").click()
    dialog = page.get_by_role("dialog", name="Release 10,000 keys")
    dialog.get_by_role("button", name="Release").click()
    expect(page.locator("#receipt")).to_contain_text("10,000 keys", timeout=120_000)
    expect(page.locator("#keys")).to_contain_text("No key matches", timeout=120_000)
