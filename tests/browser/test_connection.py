"""A page reports a lost connection and reconnects."""

from playwright.sync_api import Browser, expect
from tests.browser.conftest import FLOW, Stack
from tests.clients import wait_until


def test_page_reconnects_after_web_was_restarted(browser: Browser, stack: Stack, stem: str) -> None:
    # Not watched: a browser complains by itself about a server that is away.
    context = browser.new_context(base_url=stack.url, viewport={"width": 1440, "height": 900})
    page = context.new_page()
    page.goto(f"/flows/{FLOW}?text={stem}")
    sign = page.locator("#live")
    expect(sign).to_contain_text("Live")
    before = stack.up.child("web")
    before.kill()
    expect(sign).to_contain_text("Reconnecting…, as of ")
    stack.flow().hold(f"{stem}-meanwhile", reason="while it was away", actor="tests").wait(120)
    expect(sign).to_contain_text("Live", timeout=120_000)
    wait_until(lambda: stack.up.child("web").pid != before.pid, "another web process")
    expect(page.locator("#keys tbody tr")).to_contain_text("while it was away")
    context.close()
