"""Two people, each in a browser of their own, act on one key: nobody's hold is lost."""

from playwright.sync_api import Page, expect
from tests.browser.conftest import Enter, Office


def hold(page: Page, button: str, reason: str, expires: str) -> None:
    page.get_by_role("button", name=button).click()
    dialog = page.get_by_role("dialog", name="Hold")
    dialog.get_by_label("Reason").fill(reason)
    dialog.get_by_label(expires).check()
    dialog.get_by_role("button", name="Hold", exact=True).click()
    expect(page.locator("#receipt").get_by_text("effective", exact=True)).to_be_visible()


def test_concurrent_holds_of_two_actors_are_both_kept(
    enter: Enter, office: Office, stem: str
) -> None:
    key = f"{stem}-shared"
    path = f"/flows/{office.flow}/keys/{key}"
    ana = enter("ana", path)
    ben = enter("ben", path)
    hold(ana, "Hold…", "FRAUD: do not release", "Never")
    head = ben.locator("#key-head")
    expect(head.get_by_text("HELD", exact=True)).to_be_visible()
    hold(ben, "Hold too…", "asked by support", "15 m")
    office.world.send(key.encode(), b"waits")
    for page in (ana, ben):
        expect(page.locator("#key-head")).to_contain_text("held by 2 holds")
        expect(page.locator("#key-head")).to_contain_text("FRAUD: do not release (never expires)")

    # Both open the dialog at the same time: each has their own hold ticked.
    dialogs = {}
    for name, page in (("ana", ana), ("ben", ben)):
        page.get_by_role("button", name="Release…").click()
        dialogs[name] = page.get_by_role("dialog", name="Release")
        expect(dialogs[name].get_by_label(f"{name} (yours)")).to_be_checked()
    expect(dialogs["ben"].get_by_label("ana: FRAUD")).not_to_be_checked()
    expect(dialogs["ben"]).to_contain_text("1 event")
    dialogs["ben"].get_by_label("Reason").fill("the customer called back")
    dialogs["ben"].get_by_role("button", name="Release", exact=True).click()
    receipt = ben.locator("#receipt")
    expect(receipt).to_contain_text("Your hold is released.")
    expect(receipt).to_contain_text(
        f"{key} is still held by ana (never expires): FRAUD: do not release."
    )
    expect(head.get_by_text("HELD", exact=True)).to_be_visible()
    assert office.world.processed(key.encode()) == []
    # The open dialog of the other shows that one hold is gone, and keeps what was ticked.
    expect(dialogs["ana"].get_by_label("ben")).to_have_count(0)
    expect(dialogs["ana"].get_by_label("ana (yours)")).to_be_checked()
    dialogs["ana"].get_by_role("button", name="Release", exact=True).click()
    expect(head.get_by_text("ACTIVE", exact=True)).to_be_visible()
    assert office.world.processed(key.encode()) == [b"waits"]
    expect(ben.locator("#history")).to_contain_text("the customer called back")


def test_release_with_no_hold_ticked_releases_nothing(
    enter: Enter, office: Office, stem: str
) -> None:
    key = f"{stem}-unticked"
    office.world.flow.hold(key, actor="fraud-team", reason="fraud check").wait(60)
    ben = enter("ben", f"/flows/{office.flow}/keys/{key}", watched=False)
    ben.get_by_role("button", name="Release…").click()
    dialog = ben.get_by_role("dialog", name="Release")
    dialog.get_by_label("fraud-team").uncheck()
    with ben.expect_response(lambda answer: "/release" in answer.url) as refused:
        dialog.get_by_role("button", name="Release", exact=True).click()
    assert refused.value.status == 422
    expect(dialog).to_contain_text("No hold is ticked")
