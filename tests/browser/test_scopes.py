"""A whole flow is paused, and prefixes are held, by people in their own browsers."""

from playwright.sync_api import expect
from tests.browser.axe import serious_in_both_themes
from tests.browser.conftest import Enter, Office
from tests.clients import DEADLINE_S, wait_until


def test_two_people_pause_a_flow_and_each_ends_their_own_pause(
    enter: Enter, office: Office, stem: str
) -> None:
    flow = office.world.flow
    ana, ben = enter("ana", f"/flows/{office.flow}"), enter("ben", f"/flows/{office.flow}")
    try:
        for page, reason in ((ana, "consumers are down"), (ben, "migration")):
            page.get_by_role("button", name="Pause flow").click()
            pause = page.get_by_role("dialog", name="Pause the flow")
            pause.get_by_label("Reason").fill(reason)
            pause.get_by_role("button", name="Pause the flow").click()
            expect(page.locator("#receipt")).to_contain_text("effective")
        for page in (ana, ben):
            expect(page.locator("#flow-state")).to_contain_text("PAUSED")
            expect(page.locator("#flow-state")).to_contain_text("consumers are down")
        assert serious_in_both_themes(ana) == []
        office.world.send(stem.encode(), b"1")
        ben.get_by_role("button", name="Resume…").click()
        dialog = ben.get_by_role("dialog", name="Resume the flow")
        expect(dialog.get_by_label("ben: migration")).to_be_checked()
        expect(dialog.get_by_label("ana: consumers are down")).not_to_be_checked()
        dialog.get_by_role("button", name="Resume", exact=True).click()
        expect(ben.locator("#receipt")).to_contain_text("still held by ana")
        assert [pause.name for pause in flow.pauses()] == ["ana"]
        assert office.world.processed(stem.encode()) == []
        ana.get_by_role("button", name="Resume…").click()
        ana.get_by_role("dialog", name="Resume").get_by_role(
            "button", name="Resume", exact=True
        ).click()
        expect(ana.locator("#flow-state")).not_to_contain_text("PAUSED")
        wait_until(lambda: office.world.processed(stem.encode()) == [b"1"], "the event that waited")
    finally:
        flow.resume(every=True, reason="the test is over").wait(DEADLINE_S)


def test_a_prefix_is_held_and_released_as_one(enter: Enter, office: Office, stem: str) -> None:
    prefix = f"{stem}/"
    page = enter("ana", f"/flows/{office.flow}")
    page.get_by_role("button", name="Hold prefix").click()
    dialog = page.get_by_role("dialog", name="Hold a prefix")
    dialog.get_by_label("Prefix").fill(f" {prefix}")
    dialog.get_by_label("Reason").fill("their endpoint is down")
    dialog.get_by_role("button", name="Hold the prefix").click()
    row = page.locator("#prefixes tbody tr").filter(has_text=prefix)
    expect(row).to_contain_text("their endpoint is down")
    office.world.send(f"{prefix}1".encode(), b"1")
    office.world.wait_until_taken()
    assert office.world.processed(f"{prefix}1".encode()) == []
    assert serious_in_both_themes(page) == []
    row.get_by_role("button", name="Release…").click()
    page.get_by_role("dialog", name="Release the prefix").get_by_role(
        "button", name="Release", exact=True
    ).click()
    expect(row).to_have_count(0)
    wait_until(lambda: office.world.processed(f"{prefix}1".encode()) == [b"1"], "the held event")
