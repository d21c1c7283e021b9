"""Text of other people is never markup, on any page."""

from urllib.parse import quote

from playwright.sync_api import Page, expect
from tests.browser.conftest import FLOW, Stack
from tests.clients import DEADLINE_S

from holdfast.control.key_paths import key_to_path

ATTACK = "<img src=x onerror=\"document.title='taken'\">'\"</script><script>alert(1)</script>"


def test_markup_in_key_value_reason_and_header_is_text(page: Page, stack: Stack, stem: str) -> None:
    key = f"{stem}{ATTACK}"
    stack.flow().hold(key, reason=ATTACK, actor=ATTACK).wait(DEADLINE_S)
    headers = [("x-attack", ATTACK.encode())]
    page.goto(f"/flows/{FLOW}?text={stem}")
    expect(page.locator("#live")).to_contain_text("Live")
    value = {"type": ATTACK, ATTACK: ATTACK}
    stack.client.send(f"{FLOW}.events", value, key=key, headers=headers).result(DEADLINE_S)

    expect(page.locator("#keys tbody tr").get_by_text(ATTACK).first).to_be_visible()
    expect(page.locator("[data-lane=held] li").first.locator(".ty")).to_contain_text("<img src=x")
    page.goto(f"/flows/{FLOW}/keys/{key_to_path(key.encode())}")
    expect(page.locator("#event")).to_contain_text("x-attack")
    expect(page.locator("#event dd").first).to_have_text(ATTACK)
    expect(page.locator("#key-head")).to_contain_text(ATTACK)
    for path in (
        "/",
        f"/audit?flow={FLOW}&text={stem}",
        f"/topics/{FLOW}.events?text={stem}",
        f"/find?q={quote(key)}",
        f"/flows/{FLOW}?text={quote(ATTACK)}",
    ):
        page.goto(path)
        expect(page.locator("main")).to_contain_text("<img src=x")
        assert page.locator("img").count() == 0
        assert page.title() != "taken"


def test_keys_of_any_bytes_have_pages(page: Page, stack: Stack, stem: str) -> None:
    keys: list[str | bytes] = [
        f"{stem}/a/b c?d#e%2F", f"{stem}-ключ-🗝", f"b64.{stem}", stem.encode() + b"\x00\xff",
        stem.encode() + b"k" * 4000,
    ]  # fmt: skip
    for key in keys:
        stack.flow().hold(key, reason=f"any bytes {stem}", actor="tests")
    page.goto(f"/flows/{FLOW}?text={stem}")
    links = page.locator("#keys tbody th a")
    expect(links).to_have_count(len(keys))
    expect(page.locator("#keys tbody").get_by_text("HELD", exact=True)).to_have_count(len(keys))
    for address in [link.get_attribute("href") for link in links.all()]:
        page.goto(address or "")
        expect(page.locator("#key-head").get_by_text("HELD", exact=True)).to_be_visible()
        expect(page.locator("#key-head")).to_contain_text(f"any bytes {stem}")
