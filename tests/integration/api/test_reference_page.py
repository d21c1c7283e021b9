"""The reference of the API: short ids, tags, durations, and errors that name what is missing."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import sync_playwright
from tests.browser.chromium import FLAGS, find_chromium
from tests.integration.api.served import Api

import holdfast.dashboard.assets as assets


def test_operations_have_short_unique_ids_and_described_tags(api: Api) -> None:
    document = api.found("openapi.json")
    operations = [o for methods in document["paths"].values() for o in methods.values()]
    ids = [operation["operationId"] for operation in operations]
    assert len(set(ids)) == len(ids)
    assert all(re.fullmatch(r"[a-z_]{2,25}", each) for each in ids), ids
    described = {tag["name"] for tag in document["tags"] if tag["description"]}
    for operation in operations:
        assert len(operation["tags"]) == 1
        assert operation["tags"][0] in described


@pytest.mark.parametrize("length", [7200, 7200.5, "2h", "1.5h", "90s", "7d"])
def test_length_of_a_hold_is_seconds_or_a_text(api: Api, idle: str, length: float | str) -> None:
    answer = api.post(f"flows/{idle}/keys/k/hold?dry_run=true", json={"expires_in": length})
    assert answer.status_code == 200, answer.text


@pytest.mark.parametrize("length", ["soon", "0s", "-1h", "2", 0, -1, True, "99999999d", 1e12])
def test_other_lengths_are_refused(api: Api, idle: str, length: object) -> None:
    answer = api.post(f"flows/{idle}/keys/k/hold?dry_run=true", json={"expires_in": length})
    assert answer.status_code == 422, answer.text


def test_lengths_of_time_in_addresses_may_be_texts(api: Api, idle: str) -> None:
    assert api.found(f"flows/{idle}/series?seconds=5m") == api.found(f"flows/{idle}/series")
    answer = api.post(f"flows/{idle}/keys/k/hold?dry_run=true&wait=effective&timeout=2s", json={})
    assert answer.status_code == 200, answer.text
    assert api.get(f"flows/{idle}/series?seconds=1d").status_code == 422


@pytest.mark.parametrize("kind", [None, "application/x-www-form-urlencoded", "text/plain"])
def test_body_that_is_not_called_json_names_the_header(
    api: Api, idle: str, kind: str | None
) -> None:
    headers = {} if kind is None else {"Content-Type": kind}
    path = f"flows/{idle}/keys/k/hold?dry_run=true"
    answer = api.post(path, content=b'{"reason": "x"}', headers=headers)
    assert answer.status_code == 422
    problem = answer.json()
    assert "send `Content-Type: application/json`" in problem["detail"]
    assert problem["errors"][0]["where"] == "header.content-type"


def test_page_shows_the_reference_within_our_policy(api: Api) -> None:
    """In a real browser, without an error in its console and without a request to another site."""
    assert (Path(assets.ROOT) / "vendor" / "swagger-ui-bundle.js").is_file()
    complaints: list[str] = []
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=find_chromium(), args=FLAGS)
        page = chromium.new_page(base_url=api.address)
        page.on("console", lambda m: complaints.append(m.text) if m.type == "error" else None)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on(
            "request",
            lambda r: None if r.url.startswith(api.address) else complaints.append(r.url),
        )
        page.goto("/")
        page.get_by_role("link", name="API reference").first.click()
        page.locator("#operations-verbs-hold, [id^='operations-tag-verbs']").first.wait_for()
        page.locator("[id^='operations-tag-verbs']").first.click()
        page.locator("#operations-verbs-hold").click()
        page.locator("#operations-verbs-hold").get_by_text("expires_in").first.wait_for()
        chromium.close()
    assert complaints == []
