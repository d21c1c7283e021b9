"""Hold keys in the dashboard, see the effect, release them in order."""

from playwright.sync_api import Browser, Locator, Page, expect
from tests.browser.chromium import fetch
from tests.browser.conftest import FLOW, NewContext, Stack, processed_of
from tests.clients import DEADLINE_S, wait_until


def row_of(page: Page, key: str) -> Locator:
    return page.locator("#keys tbody tr").filter(has=page.get_by_text(key, exact=True))


def send(page: Page, key: str, value: str, headers: str = "") -> None:
    page.get_by_role("button", name="Send event").click()
    dialog = page.get_by_role("dialog", name="Send an event")
    dialog.get_by_role("textbox", name="Key").fill(key)
    dialog.get_by_role("textbox", name="Value", exact=True).fill(value)
    dialog.get_by_role("textbox", name="Headers").fill(headers)
    dialog.get_by_role("button", name="Send", exact=True).click()
    dialog.get_by_role("button", name="Send it").click()
    expect(dialog.get_by_text("Sent: partition")).to_be_visible()
    dialog.get_by_role("button", name="Close").click()


def hold(page: Page, *keys: str, reason: str) -> None:
    panel = page.locator("dialog#hold")
    panel.get_by_role("textbox", name="Keys").fill("\n".join(keys))
    panel.get_by_label("Reason").fill(reason)
    panel.get_by_role("button", name=f"Hold {len(keys)} key").click()


def test_held_events_wait_and_come_out_in_order_after_release(
    page: Page, stack: Stack, stem: str
) -> None:
    key = f"{stem}-customer"
    page.goto(f"/flows/{FLOW}?text={stem}")
    send(page, key, '{"type": "first"}')
    expect(page.locator("[data-lane=events]").get_by_text(key)).not_to_have_count(0)
    expect(page.locator("[data-lane=processed]").get_by_text(key)).not_to_have_count(0)

    hold(page, key, reason="address disputed")
    receipt = page.locator("#hold-receipt")
    expect(receipt.get_by_text("effective", exact=True)).to_be_visible()
    expect(receipt.get_by_text("partition")).to_be_visible()
    row = row_of(page, key)
    expect(row.get_by_text("HELD", exact=True)).to_be_visible()
    expect(row.get_by_text("address disputed")).to_be_visible()
    activity = page.locator("#activity tbody tr").filter(has=page.get_by_text(key))
    expect(activity.get_by_text("HELD", exact=True)).to_be_visible()

    for word in ("second", "third", "fourth"):
        send(page, key, f'{{"type": "{word}"}}')
    expect(row.locator("[data-l=Events]")).to_have_text("3")
    expect(page.locator("[data-lane=held]").get_by_text(key)).to_have_count(3)

    row.get_by_role("link", name=key).click()
    expect(page.get_by_role("heading", name=key)).to_be_visible()
    waiting = page.locator("#buffered tbody tr")
    expect(waiting).to_have_count(3)
    assert [waiting.nth(i).locator("td").nth(1).inner_text() for i in range(3)] == [
        "second", "third", "fourth",
    ]  # fmt: skip
    expect(page.locator("#timeline")).to_contain_text("HELD")

    page.get_by_role("button", name="Release…").click()
    page.get_by_role("dialog", name="Release").get_by_role("button", name="Release").click()
    expect(page.locator("#key-head").get_by_text("ACTIVE", exact=True)).to_be_visible()
    expect(page.locator("#history")).to_contain_text("Drained")
    expect(page.locator("#buffered")).to_contain_text("Nothing is buffered")

    page.goto(f"/topics/{FLOW}.processed?named={key}&order=oldest")
    expect(page.locator("#messages tbody tr")).to_have_count(4)
    words = page.locator("#messages tbody tr td:nth-child(4)").all_inner_texts()
    assert words == ["first", "second", "third", "fourth"]
    assert processed_of(stack, key, 4) == [f'{{"type": "{word}"}}' for word in words]


def test_many_keys_are_held_and_released_together(page: Page, stem: str) -> None:
    keys = [f"{stem}-{number}" for number in range(3)]
    page.goto(f"/flows/{FLOW}?text={stem}")
    hold(page, *keys, reason="downstream is down")
    expect(page.locator("#hold-receipt")).to_contain_text("3 of 3 effective")
    rows = page.locator("#keys tbody tr")
    expect(rows.get_by_text("HELD", exact=True)).to_have_count(3)

    page.get_by_label(f"Select {keys[0]}").check()
    page.get_by_label(f"Select {keys[2]}").check()
    expect(page.get_by_text("2 selected")).to_be_visible()
    page.get_by_role("toolbar").get_by_role("button", name="Release…").click()
    dialog = page.get_by_role("dialog", name="Release 2 keys")
    dialog.get_by_role("button", name="Release").click()
    expect(page.locator("#receipt")).to_contain_text("2 of 2 effective")
    expect(rows).to_have_count(1)
    expect(row_of(page, keys[1]).get_by_text("HELD", exact=True)).to_be_visible()

    page.get_by_label("Select all on this page").check()
    page.get_by_role("toolbar").get_by_role("button", name="Extend…").click()
    extend = page.get_by_role("dialog", name="Extend 1 key")
    extend.get_by_label("7 d").check()
    extend.get_by_role("button", name="Extend").click()
    expect(rows.locator("[data-l=Expires]")).to_contain_text("in 6d")


def test_rows_keep_their_place_while_some_are_selected(page: Page, stack: Stack, stem: str) -> None:
    flow = stack.flow()
    keys = [f"{stem}-{number}" for number in range(3)]
    for key in keys:
        flow.hold(key, reason="before", actor="tests").wait(DEADLINE_S)
    page.goto(f"/flows/{FLOW}?text={stem}&sort=key&order=asc")
    rows = page.locator("#keys tbody tr")
    expect(rows.get_by_text("HELD", exact=True)).to_have_count(3)
    page.get_by_label(f"Select {keys[1]}").check()

    flow.release(keys[0], actor="tests").wait(DEADLINE_S)
    flow.hold(f"{stem}-!", reason="sorts before the others", actor="tests").wait(DEADLINE_S)
    expect(rows.nth(0)).to_have_class("gone")
    assert [rows.nth(i).get_attribute("data-key") for i in range(3)] == keys

    page.keyboard.press("Escape")
    expect(rows.nth(0)).to_contain_text(f"{stem}-!")
    expect(rows).to_have_count(3)


def test_hold_ends_by_itself_when_it_expires(page: Page, stack: Stack, stem: str) -> None:
    key = f"{stem}-briefly"
    page.goto(f"/flows/{FLOW}/keys/{key}")
    expect(page.locator("#key-head").get_by_text("ACTIVE", exact=True)).to_be_visible()
    stack.flow().hold(key, reason="for a moment", expires_in=6, actor="tests")
    stack.client.send(f"{FLOW}.events", {"type": "late"}, key=key).result(DEADLINE_S)
    history = page.locator("#history li")
    expect(history.filter(has_text="Expired")).to_have_count(1)
    expect(history.filter(has_text="for a moment, until")).to_contain_text("effective")
    expect(history.filter(has_text="Drained")).to_have_count(1)
    expect(page.locator("#key-head").get_by_text("ACTIVE", exact=True)).to_be_visible()
    assert processed_of(stack, key, 1) == ['{"type":"late"}']


def test_dead_letters_are_shown_with_their_reason(page: Page, stack: Stack, stem: str) -> None:
    key = f"{stem}-hopeless"
    stack.flow().hold(key, reason="broken", actor="tests").wait(DEADLINE_S)
    stack.client.send(f"{FLOW}.events", {"type": "poison"}, key=key).result(DEADLINE_S)
    page.goto(f"/flows/{FLOW}/keys/{key}")
    expect(page.locator("#buffered tbody tr")).to_have_count(1)
    page.get_by_role("button", name="Dead-letter…").click()
    dialog = page.get_by_role("dialog", name="Dead-letter")
    dialog.get_by_label("Reason").fill(f"given up {stem}")
    dialog.get_by_role("button", name="Dead-letter held events").click()
    expect(page.locator("#receipt")).to_contain_text("DEAD-LETTERED")
    expect(page.locator("#buffered")).to_contain_text("Nothing is buffered")

    page.goto(f"/dead-letters?flow={FLOW}&named={key}")
    expect(page.locator("#messages tbody tr")).to_have_count(1)
    expect(page.locator("#messages")).to_contain_text("poison")
    expect(page.locator("#event")).to_contain_text("It was held when its key was dead-lettered.")
    expect(page.locator(".reasons")).to_contain_text("dead-lettered")
    page.get_by_role("button", name="Redrive…").click()
    redrive = page.get_by_role("dialog", name="Redrive")
    expect(redrive).to_contain_text("Redrive the dead letter")
    redrive.get_by_role("button", name="Close").click()
    expect(redrive).to_be_hidden()
    page.goto(f"/audit?flow={FLOW}&text=given up {stem}&outcome=dead-lettered")
    expect(page.locator("main tbody tr")).to_contain_text(key)


def test_second_tab_updates_live(new_context: NewContext, stem: str) -> None:
    key = f"{stem}-shared"
    context = new_context()
    acting, watching = context.new_page(), context.new_page()
    overview = context.new_page()
    acting.goto(f"/flows/{FLOW}?text={stem}")
    watching.goto(f"/flows/{FLOW}?text={stem}")
    overview.goto("/")
    expect(watching.locator("#keys")).to_contain_text("No key matches")
    hold(acting, key, reason="seen by both")
    expect(row_of(watching, key).get_by_text("HELD", exact=True)).to_be_visible()
    expect(overview.locator("#overview")).to_contain_text(key)


def test_stopped_flow_shows_why_and_continues_after_a_void(
    page: Page, stack: Stack, stem: str
) -> None:
    name = f"stuck-{stem}"
    flow = stack.client.flow(name).create(partitions=1)
    stack.client.send(f"{name}.control", b"not a command", key="k").result(DEADLINE_S)
    wait_until(lambda: fetch(page, f"/flows/{name}").ok, "the flow's page")
    page.goto(f"/flows/{name}")
    page.get_by_role("button", name="Void offset 0…").click(timeout=120_000)
    expect(page.locator("#flow-state .chip.block")).to_be_visible()
    dialog = page.get_by_role("dialog", name="Void offset 0")
    dialog.get_by_label("Reason").fill("written by hand")
    dialog.get_by_role("button", name="Void and continue").click()
    flow.hold("k", reason="it goes on", actor="tests")
    expect(row_of(page, "k").get_by_text("HELD", exact=True)).to_be_visible(timeout=120_000)
    expect(page.locator("#flow-state")).to_contain_text("HEALTHY")


def test_form_shows_the_error_of_a_command(browser: Browser, stack: Stack) -> None:
    # Not watched: a browser complains by itself about a request that was refused.
    context = browser.new_context(base_url=stack.url)
    page = context.new_page()
    page.goto(f"/flows/{FLOW}")
    page.get_by_role("button", name="Send event").click()
    dialog = page.get_by_role("dialog", name="Send an event")
    dialog.get_by_role("textbox", name="Headers").fill("no colon")
    dialog.get_by_role("button", name="Send").click()
    expect(dialog.get_by_text("A header is written as name: value")).to_be_visible()
    context.close()
