"""Everybody can use it: by keyboard, on a phone, in both themes, with assistive technology."""

import pytest
from playwright.sync_api import Browser, Page, expect
from tests.browser.axe import serious, serious_in_both_themes
from tests.browser.conftest import FLOW, NewContext, Stack
from tests.clients import DEADLINE_S

from holdfast.dashboard.navigation import SECTIONS

PAGES = {
    **{section.title: section.path for section in SECTIONS},
    "flow": f"/flows/{FLOW}",
    "key": f"/flows/{FLOW}/keys/axe-key",
    "dead letters of a flow": f"/dead-letters?flow={FLOW}",
    "messages": f"/topics/{FLOW}.events",
    "group": f"/groups/holdfast.{FLOW}",
    "audit of a flow": f"/audit?flow={FLOW}",
    "find": "/find?q=axe",
    "login": "/login",
}


@pytest.fixture(scope="module")
def something_to_show(stack: Stack) -> None:
    """A key with every kind of thing, and a dead letter."""
    flow = stack.flow()
    flow.hold("axe-key", reason="to look at", expires_in=3000, actor="tests").wait(DEADLINE_S)
    for number in range(3):
        stack.client.send(f"{FLOW}.events", {"type": "one", "n": number}, key="axe-key").result(
            DEADLINE_S
        )
    flow.dead_letter("axe-key", reason="to look at", actor="tests").wait(DEADLINE_S)
    stack.client.send(f"{FLOW}.events", {"type": "two"}, key="axe-key").result(DEADLINE_S)


@pytest.mark.usefixtures("something_to_show")
def test_axe_finds_nothing_serious_on_any_page_in_either_theme(new_context: NewContext) -> None:
    page = new_context(theme="light").new_page()
    for name, path in PAGES.items():
        page.goto(path)
        page.wait_for_load_state("load")
        assert not serious_in_both_themes(page), name


@pytest.mark.usefixtures("something_to_show")
def test_dialogs_and_phone_pass_axe_too(new_context: NewContext) -> None:
    page = new_context(width=390, height=844).new_page()
    for path in (PAGES["Overview"], PAGES["flow"], PAGES["key"], PAGES["messages"]):
        page.goto(path)
        assert not serious(page), path
        overflow = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
        assert page.evaluate(overflow) <= 0, f"{path} scrolls sideways"
    page.goto(PAGES["flow"])
    page.get_by_role("button", name="Hold keys").first.click()
    assert not serious(page), "hold panel"
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Send event").click()
    assert not serious(page), "send dialog"
    page.keyboard.press("Escape")
    page.get_by_role("button", name="More").click()
    assert not serious(page), "menu"
    page.get_by_role("dialog", name="More").get_by_role("link", name="Groups and lag").click()
    expect(page.get_by_role("heading", name="Groups and lag")).to_be_visible()


def test_unknown_page_shows_an_error_with_links(browser: Browser, stack: Stack) -> None:
    # Not watched: a browser complains by itself about an answer that is an error.
    context = browser.new_context(base_url=stack.url, reduced_motion="reduce")
    page = context.new_page()
    page.goto("/flows/there-is-none")
    expect(page.get_by_role("heading", name="Not found")).to_be_visible()
    assert not serious_in_both_themes(page)
    page.get_by_role("link", name="Go to the overview").click()
    expect(page.get_by_role("heading", name="Overview")).to_be_visible()
    context.close()


def focused(page: Page) -> str:
    return str(page.evaluate("document.activeElement.id || document.activeElement.tagName"))


def test_key_is_held_and_released_by_keyboard_alone(new_context: NewContext, stem: str) -> None:
    key = f"{stem}-keys"
    page = new_context(width=1024, height=768).new_page()
    page.goto(f"/flows/{FLOW}?text={stem}")
    page.keyboard.press("/")
    assert focused(page) == "find"
    page.locator("#find").blur()
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keyboard shortcuts")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog", name="Keyboard shortcuts")).to_be_hidden()

    page.keyboard.press("h")
    panel = page.get_by_role("dialog", name="Hold keys")
    expect(panel).to_be_visible()
    inside = "document.activeElement === document.body || !!document.activeElement.closest('#hold')"
    for _ in range(25):
        page.keyboard.press("Tab")
        assert page.evaluate(inside), f"focus left the panel for {focused(page)}"
    page.locator("#hold-keys").focus()
    page.keyboard.type(key)
    page.keyboard.press("Tab")
    page.keyboard.type("by keyboard")
    page.keyboard.press("Enter")
    expect(page.locator("#hold-receipt").get_by_text("effective", exact=True)).to_be_visible()
    page.keyboard.press("Escape")
    expect(panel).to_be_hidden()

    box = page.get_by_label(f"Select {key}")
    box.focus()
    outline = "getComputedStyle(document.activeElement).outlineStyle"
    assert page.evaluate(outline) != "none", "focus cannot be seen"
    page.keyboard.press("Space")
    page.keyboard.press("r")
    dialog = page.get_by_role("dialog", name="Release 1 key")
    expect(dialog).to_be_visible()
    dialog.get_by_label("Pace").press("Enter")
    expect(page.locator("#receipt")).to_contain_text("RELEASED")
    expect(page.locator("#keys")).to_contain_text("No key matches")
    page.keyboard.press("g")
    page.keyboard.press("h")
    expect(page.get_by_role("heading", name="Health")).to_be_visible()
