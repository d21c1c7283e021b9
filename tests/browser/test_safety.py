"""What others have written is shown as text, wherever it turns up."""

from urllib.parse import quote

from playwright.sync_api import Page, expect
from tests.browser.conftest import FLOW, Stack

from holdfast.api.key_paths import key_to_path

ATTACK = "<img src=x onerror=\"document.title='taken'\">'\"</script><script>alert(1)</script>"


def test_markup_in_key_value_reason_and_header_is_text(page: Page, stack: Stack, stem: str) -> None:
    key = f"{stem}{ATTACK}"
    stack.flow().hold(key, reason=ATTACK, actor=ATTACK).wait(60)
    headers = [("x-attack", ATTACK.encode())]
    page.goto(f"/flows/{FLOW}?q={stem}")
    expect(page.locator("#live")).to_contain_text("Live")
    value = {"type": ATTACK, ATTACK: ATTACK}
    stack.client.send(f"{FLOW}.events", value, key=key, headers=headers).result(30)

    expect(page.locator("#keys tbody tr").get_by_text(ATTACK).first).to_be_visible()
    expect(page.locator("[data-lane=held] li").first.locator(".ty")).to_contain_text("<img src=x")
    page.goto(f"/flows/{FLOW}/keys/{key_to_path(key.encode())}")
    expect(page.locator("#event")).to_contain_text("x-attack")
    expect(page.locator("#event dd").first).to_have_text(ATTACK)
    expect(page.locator("#key-head")).to_contain_text(ATTACK)
    for path in (
        "/",
        f"/audit?flow={FLOW}&q={stem}",
        f"/topics/{FLOW}.events?q={stem}",
        f"/find?q={quote(key)}",
        f"/flows/{FLOW}?q={quote(ATTACK)}",
    ):
        page.goto(path)
        expect(page.locator("main")).to_contain_text("<img src=x")
        assert page.locator("img").count() == 0
        assert page.title() != "taken"


def test_keys_of_any_bytes_have_pages(page: Page, stack: Stack, stem: str) -> None:
    keys = [
        f"{stem}/a/b c?d#e%2F", f"{stem}-ключ-🗝", f"b64.{stem}", stem.encode() + b"\x00\xff",
        stem.encode() + b"k" * 4000,
    ]  # fmt: skip
    for key in keys:
        stack.flow().hold(key, reason=f"any bytes {stem}", actor="tests")
    page.goto(f"/flows/{FLOW}?q={stem}")
    links = page.locator("#keys tbody th a")
    expect(links).to_have_count(len(keys))
    expect(page.locator("#keys tbody").get_by_text("HELD", exact=True)).to_have_count(len(keys))
    for address in [link.get_attribute("href") for link in links.all()]:
        page.goto(address or "")
        expect(page.locator("#key-head").get_by_text("HELD", exact=True)).to_be_visible()
        expect(page.locator("#key-head")).to_contain_text(f"any bytes {stem}")
