"""Mistakes that people made in the dashboard, and how it prevents them now."""

import os
import signal

from playwright.sync_api import Locator, Page, expect
from tests.browser.chromium import fetch
from tests.browser.conftest import Enter, Office
from tests.clients import DEADLINE_S, wait_until

from holdfast.control.key_paths import key_to_path


def path_of(office: Office, key: str) -> str:
    return f"/flows/{office.flow}/keys/{key_to_path(key.encode())}"


def held_with_events(office: Office, key: str, events: int) -> None:
    office.world.flow.hold(key, actor="fraud-team", reason="fraud check").wait(DEADLINE_S)
    office.world.send(key.encode(), *(b"%d" % number for number in range(events)))


def release(page: Page, name: str = "Release") -> None:
    dialog = page.get_by_role("dialog", name=name)
    dialog.get_by_label("Pace").fill("0.01")
    dialog.get_by_role("button", name="Release", exact=True).click()


def state_of(page: Page, state: str) -> Locator:
    return page.locator("#key-head").get_by_text(state, exact=True)


def test_a_drain_is_stopped_with_one_click(enter: Enter, office: Office, stem: str) -> None:
    key = f"{stem}-drains"
    held_with_events(office, key, 3)
    page = enter("ana", path_of(office, key))
    page.get_by_role("button", name="Release…").click()
    release(page)
    expect(state_of(page, "DRAINING")).to_be_visible()
    first = page.locator("#key-head .acts button").first
    expect(first).to_have_text("Hold again (stop the drain)")
    first.click()
    expect(state_of(page, "HELD")).to_be_visible()
    expect(page.locator("#key-head")).to_contain_text("drain stopped")
    assert office.world.processed(key.encode()) == []


def test_a_release_is_undone_from_its_receipt(enter: Enter, office: Office, stem: str) -> None:
    key = f"{stem}-undone"
    held_with_events(office, key, 2)
    page = enter("ben", path_of(office, key))
    page.get_by_role("button", name="Release…").click()
    release(page)
    page.locator("#receipt").get_by_role("button", name="Undo: hold again").click()
    expect(state_of(page, "HELD")).to_be_visible()
    expect(page.locator("#key-head")).to_contain_text("fraud check")
    (hold,) = office.world.flow.status(key).holds
    assert (hold.name, hold.reason, hold.actor) == ("fraud-team", "fraud check", "ben")
    assert office.world.processed(key.encode()) == []


def test_a_release_of_many_keys_is_undone_and_stopped_together(
    enter: Enter, office: Office, stem: str
) -> None:
    keys = [f"{stem}-{number}" for number in range(3)]
    for key in keys:
        held_with_events(office, key, 2)
    page = enter("ana", f"/flows/{office.flow}?text={stem}")
    rows = page.locator("#keys tbody tr")
    toolbar = page.get_by_role("toolbar")
    page.get_by_label("Select all on this page").check()
    toolbar.get_by_role("button", name="Release…").click()
    release(page, "Release 3 keys")
    expect(rows.get_by_text("DRAINING", exact=True)).to_have_count(3)
    page.locator("#receipt").get_by_role("button", name="Undo: hold again").click()
    expect(rows.get_by_text("HELD", exact=True)).to_have_count(3)

    page.get_by_label("Select all on this page").check()
    toolbar.get_by_role("button", name="Release…").click()
    release(page, "Release 3 keys")
    expect(rows.get_by_text("DRAINING", exact=True)).to_have_count(3)
    page.get_by_label("Select all on this page").check()
    toolbar.get_by_role("button", name="Hold again…").click()
    again = page.get_by_role("dialog", name="Hold again 3 keys")
    again.get_by_role("button", name="Hold again").click()
    expect(rows.get_by_text("HELD", exact=True)).to_have_count(3)
    assert not any(office.world.processed(key.encode()) for key in keys)


def test_white_space_of_pasted_keys_is_removed_and_reported(
    enter: Enter, office: Office, stem: str
) -> None:
    page = enter("ana", f"/flows/{office.flow}?text={stem}")
    panel = page.locator("dialog#hold")
    panel.get_by_role("textbox", name="Keys").fill(f"  {stem}-a\t\n{stem}-b")
    lookup = page.locator("#hold-lookup")
    expect(lookup).to_contain_text("1 key has white space around it")
    expect(lookup).to_contain_text(f"␠␠{stem}-a⇥")
    expect(lookup).to_contain_text("It is left out.")
    panel.get_by_role("button", name="Hold 2 keys").click()
    rows = page.locator("#keys tbody tr")
    expect(rows.get_by_text("HELD", exact=True)).to_have_count(2)
    held = {status.key.decode() for status in office.world.flow.held()}
    assert {key for key in held if stem in key} == {f"{stem}-a", f"{stem}-b"}

    panel.get_by_role("textbox", name="Keys").fill(f" {stem}-c")
    lookup.get_by_label("keep the white space").check()
    expect(lookup).to_contain_text("It stays.")
    panel.get_by_role("button", name="Hold 1 key").click()
    expect(rows.get_by_text(f"␠{stem}-c", exact=True)).to_be_visible()
    expect(rows.get_by_text("HELD", exact=True)).to_have_count(3)
    assert office.world.flow.status(f" {stem}-c").holds


def test_a_key_that_was_never_seen_is_not_simply_active(
    enter: Enter, office: Office, stem: str
) -> None:
    key = f"{stem}-misspelt"
    page = enter("ana", path_of(office, key))
    expect(page.locator("#key-head")).to_contain_text("never seen in this flow")
    page.goto(f"/flows/{office.flow}?text={stem}")
    panel = page.locator("dialog#hold")
    panel.get_by_role("textbox", name="Keys").fill(key)
    expect(page.locator("#hold-lookup")).to_contain_text("never seen in this flow")
    panel.get_by_role("button", name="Hold 1 key").click()
    expect(page.locator("#hold-receipt")).to_contain_text("never seen in this flow")
    office.world.send(key.encode(), b"seen now")
    page.goto(path_of(office, key))
    expect(page.locator("#key-head")).to_contain_text("1 in the last hour")


def test_send_event_checks_the_schema_asks_once_and_can_be_disabled(
    enter: Enter, office: Office, stem: str
) -> None:
    flow = office.world.client.flow(f"typed-{stem}")
    flow.create(partitions=1, schema="id BIGINT NOT NULL, total DOUBLE")
    page = enter("ana", "/", watched=False)
    wait_until(lambda: fetch(page, f"/flows/{flow.name}").ok, "the flow's page")
    page.goto(f"/flows/{flow.name}")
    page.get_by_role("button", name="Send event").click()
    dialog = page.get_by_role("dialog", name="Send an event")
    value = dialog.get_by_role("textbox", name="Value", exact=True)
    value.fill('{"id": "7"}')
    dialog.get_by_role("button", name="Send", exact=True).click()
    expect(dialog).to_contain_text("id must be a whole number")
    value.fill('{"id": 7}')
    dialog.get_by_role("button", name="Send", exact=True).click()
    expect(dialog).to_contain_text("This becomes a real event")
    assert office.world.ends(flow.names.events, 1) == {0: 0}
    dialog.get_by_role("button", name="Send it").click()
    expect(dialog).to_contain_text("Sent: partition 0")
    flow.change(sending=False)
    page.goto("/")
    wait_until(lambda: "Send event" not in fetch(page, f"/flows/{flow.name}").text(), "change")
    sent = page.request.post(f"/flows/{flow.name}/send", form={"value": '{"id": 8}', "sure": "1"})
    assert not sent.ok
    assert office.world.ends(flow.names.events, 1) == {0: 1}


def test_page_shows_live_only_while_data_arrives(enter: Enter, office: Office) -> None:
    page = enter("ana", f"/flows/{office.flow}", watched=False)
    sign = page.locator("#live")
    expect(sign).to_contain_text("Live")
    os.kill(office.world.kafka.pid, signal.SIGSTOP)
    try:
        expect(sign).to_contain_text("Stands still since ")
        expect(sign).not_to_contain_text("Live")
        assert "still" in (page.locator("body").get_attribute("class") or "")
    finally:
        os.kill(office.world.kafka.pid, signal.SIGCONT)
    expect(sign).to_contain_text("Live")
    assert "still" not in (page.locator("body").get_attribute("class") or "")
