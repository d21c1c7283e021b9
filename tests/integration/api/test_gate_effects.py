"""Verbs against a real gate: requested, effective, held, released, explained."""

import html
import re
import uuid
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from tests.clients import DEADLINE_S, wait_until
from tests.integration.api.served import PATIENCE_S, Api, Pipeline

from holdfast.client.client import Client
from holdfast.control.key_paths import key_to_path
from holdfast.flows.names import FlowNames
from holdfast.views.flow_view import FlowView, KeyView

pytestmark = pytest.mark.spark

ODD_KEYS = {
    "slashes": b"eu/west/7",
    "spaces": b" a b ",
    "quotes": b'it\'s "so" <b>&amp;',
    "emoji": "🦊/ünï".encode(),
    "four kB": b"k" * 4096,
    "no text": bytes(range(128, 256)),
    "dots": b"..",
    "like base64": b"b64.YS9i",
    "percent": b"%2F%00",
    "empty": b"",
}


def new_key(name: str = "key") -> str:
    return f"{name}-{uuid.uuid4().hex[:8]}"


def hold(api: Api, flow: str, key: str, **body: Any) -> Any:
    return api.asked(f"flows/{flow}/keys/{key}/hold?wait=effective&timeout=50", body)


def state_of(api: Api, flow: str, key: str, state: str) -> Any:
    """The key once it has that state: the view reads status and journal from different topics."""
    path = f"flows/{flow}/keys/{key}"
    return wait_until(
        lambda: (shown := api.found(path))["state"] == state and shown, state, PATIENCE_S
    )


def held_of(api: Api, flow: str, key: str) -> list[str]:
    events = api.found(f"flows/{flow}/keys/{key}/held")["events"]
    return [event["value"]["text"] for event in events]


def came_out(api: Api, flow: str, key: str) -> list[str]:
    page = api.found(f"flows/{flow}/topics/processed/records", key=key, order="oldest")
    return [record["value"]["text"] for record in page["records"]]


def test_hold_is_answered_with_its_outcome_and_cut_from_the_journal(api: Api, orders: str) -> None:
    key = new_key()
    receipt = hold(api, orders, key, reason="disputed", expires_in=3600)
    effect = receipt["effective"]
    assert effect["outcome"] == "held"
    assert effect["cut"] >= 0
    shown = state_of(api, orders, key, "HELD")
    assert (shown["reason"], shown["actor"]) == ("disputed", "local")
    assert shown["expires_at"] > shown["since"]
    [item] = shown["history"]
    assert item["requested"]["command_id"] == receipt["command_id"]
    assert [row["outcome"] for row in item["effective"]] == ["held"]


def test_events_are_held_and_come_out_in_order_after_the_release(api: Api, orders: str) -> None:
    key = new_key()
    hold(api, orders, key)
    sent = [str(number) for number in range(5)]
    for text in sent:
        api.asked(f"flows/{orders}/events", {"key": key, "text": text})
    wait_until(lambda: held_of(api, orders, key) == sent, "five that are held", PATIENCE_S)
    wait_until(
        lambda: api.found(f"flows/{orders}/keys/{key}")["events"] == 5, "a count", PATIENCE_S
    )
    assert came_out(api, orders, key) == []
    receipt = api.asked(f"flows/{orders}/keys/{key}/release?wait=effective&timeout=50")
    assert receipt["effective"]["outcome"] == "released"
    wait_until(lambda: came_out(api, orders, key) == sent, "all five, in order", PATIENCE_S)
    wait_until(
        lambda: api.found(f"flows/{orders}/keys/{key}")["state"] == "ACTIVE", "ACTIVE", PATIENCE_S
    )
    outcomes = {
        row["outcome"]
        for item in api.found(f"flows/{orders}/keys/{key}")["history"]
        for row in item["effective"]
    }
    assert outcomes == {"held", "released", "drained"}


def test_held_events_are_paged_without_gap_or_repeat(api: Api, orders: str) -> None:
    key = new_key()
    hold(api, orders, key)
    sent = [str(number) for number in range(7)]
    for text in sent:
        api.asked(f"flows/{orders}/events", {"key": key, "text": text})
    wait_until(lambda: held_of(api, orders, key) == sent, "seven that are held", PATIENCE_S)
    seen: list[str] = []
    cursor: str | None = None
    while True:
        more = {"cursor": cursor} if cursor else {}
        page = api.found(f"flows/{orders}/keys/{key}/held", limit=3, **more)
        seen += [event["value"]["text"] for event in page["events"]]
        cursor = page["cursor"]
        if cursor is None:
            break
    assert seen == sent


@pytest.mark.parametrize("key", ODD_KEYS.values(), ids=ODD_KEYS.keys())
def test_any_key_can_be_held_found_and_released(api: Api, orders: str, key: bytes) -> None:
    path = key_to_path(key)
    assert hold(api, orders, path, reason=path[:40])["effective"]["outcome"] in ("held", "updated")
    assert state_of(api, orders, path, "HELD")["key_path"] == path
    listed = api.found(f"flows/{orders}/keys", text=path[:40], limit=500)["keys"]
    assert path in [row["key_path"] for row in listed]
    receipt = api.asked(f"flows/{orders}/keys/{path}/release?wait=effective&timeout=50")
    assert receipt["effective"]["outcome"] == "released"


def test_release_of_an_active_key_says_that_there_is_nothing_to_do(api: Api, orders: str) -> None:
    path = f"flows/{orders}/keys/{new_key()}/release?wait=effective&timeout=50"
    assert api.asked(path)["effective"]["outcome"] == "nothing-to-do"


def test_extend_keeps_the_reason_and_moves_the_expiry(api: Api, orders: str) -> None:
    key = new_key()
    hold(api, orders, key, reason="fraud check", expires_in=60)
    before = state_of(api, orders, key, "HELD")["expires_at"]
    path = f"flows/{orders}/keys/{key}/extend?wait=effective&timeout=50"
    assert api.asked(path, {"expires_in": 7200})["effective"]["outcome"] == "updated"
    after = wait_until(
        lambda: (found := api.found(f"flows/{orders}/keys/{key}"))["expires_at"] > before and found,
        "a later expiry",
    )
    assert after["reason"] == "fraud check"


@pytest.fixture
def late_look(monkeypatch: pytest.MonkeyPatch) -> Callable[[FlowView, str], None]:
    """Looks at a key show from now on what they show now, as if they came before what follows."""
    look = FlowView.key
    frozen: dict[bytes, KeyView] = {}
    monkeypatch.setattr(FlowView, "key", lambda view, key: frozen.get(key) or look(view, key))

    def freeze(view: FlowView, key: str) -> None:
        frozen[key.encode()] = look(view, key.encode())

    return freeze


def test_extend_after_a_release_is_shown_as_a_new_hold(
    api: Api, orders: str, late_look: Callable[[FlowView, str], None]
) -> None:
    key, extend = new_key(), {"expires_in": 7200}
    path = f"flows/{orders}/keys/{key}/extend?wait=effective&timeout=50"
    hold(api, orders, key, reason="fraud check")
    assert api.asked(path, extend)["held_anew"] is False
    late_look(api.app.state.services.views.flow(orders), key)
    api.asked(f"flows/{orders}/keys/{key}/release?wait=effective&timeout=50")

    late = api.asked(path, extend)
    assert (late["effective"]["outcome"], late["held_anew"]) == ("held", True)
    body = {"command": "extend", "keys": [key], **extend}
    [again] = api.asked(f"flows/{orders}/commands?wait=effective&timeout=50", body)["results"]
    assert (again["effective"]["outcome"], again["held_anew"]) == ("updated", False)


def test_dashboard_distinguishes_an_extension_from_a_new_hold(
    api: Api, orders: str, late_look: Callable[[FlowView, str], None]
) -> None:
    key = new_key()
    hold(api, orders, key, reason="fraud check")
    late_look(api.app.state.services.views.flow(orders), key)
    api.asked(f"flows/{orders}/keys/{key}/release?wait=effective&timeout=50")
    form = {"key": key, "expires": "4h", "reason": "still checking"}
    asked = httpx.post(f"{api.address}/flows/{orders}/extend", data=form, timeout=DEADLINE_S)
    assert asked.status_code == 200, asked.text
    [follow] = re.findall('hx-get="([^"]+/receipt[^"]+)"', asked.text) or [""]

    def receipt() -> str:
        return httpx.get(f"{api.address}{html.unescape(follow)}", timeout=DEADLINE_S).text

    shown = wait_until(
        lambda: text if ">effective</span>" in (text := receipt()) else None,
        "the outcome",
        PATIENCE_S,
    )
    assert "Not extended: its hold had ended before this took effect" in shown
    assert "held again" in shown
    wait_until(
        lambda: (
            api.found(f"flows/{orders}/keys", text=key)["keys"][0]["reason"] == "still checking"
        ),
        "the new reason",
    )


def test_expired_hold_releases_its_key_and_is_journalled(api: Api, orders: str) -> None:
    key = new_key()
    hold(api, orders, key, expires_in=1)
    wait_until(
        lambda: api.found(f"flows/{orders}/keys/{key}")["state"] == "ACTIVE", "expiry", PATIENCE_S
    )
    rows = api.found(f"flows/{orders}/audit", key=key, outcome="expired")["rows"]
    assert [row["log"] for row in rows] == ["journal"]


def test_release_ends_the_holds_that_it_names_and_says_which_remain(api: Api, orders: str) -> None:
    key = new_key()
    hold(api, orders, key, name="fraud-team", reason="fraud check")
    added = hold(api, orders, key, name="legal", reason="subpoena", expires_in=600)
    assert added["effective"]["outcome"] == "added"
    assert [one["name"] for one in added["effective"]["remaining"]] == ["fraud-team"]
    path = f"flows/{orders}/keys/{key}/release?wait=effective&timeout=50"
    refused = api.post(path, json={})
    assert (refused.status_code, refused.json()["code"]) == (409, "choose-a-hold")
    assert "fraud-team (never expires): fraud check" in refused.json()["detail"]

    released = api.asked(path, {"holds": ["legal"], "reason": "withdrawn"})["effective"]
    assert (released["outcome"], released["ended"]) == ("hold-released", ["legal"])
    assert [(one["name"], one["reason"]) for one in released["remaining"]] == [
        ("fraud-team", "fraud check")
    ]
    found = wait_until(
        lambda: (row := api.found(f"flows/{orders}/keys/{key}")) and len(row["holds"]) == 1 and row,
        "one hold",
    )
    assert (found["state"], found["holds"][0]["name"]) == ("HELD", "fraud-team")
    assert api.post(path, json={"all": True}).status_code == 422
    every = api.asked(path, {"all": True, "reason": "held by mistake"})["effective"]
    assert (every["outcome"], every["ended"]) == ("released", ["fraud-team"])
    [row] = api.found(f"flows/{orders}/audit", key=key, command="release", log="control")["rows"][
        :1
    ]
    assert (row["reason"], row["every"]) == ("held by mistake", True)


def test_bulk_has_an_outcome_for_every_key_and_one_bad_key_stops_no_other(
    api: Api, orders: str
) -> None:
    keys = [new_key("bulk") for _ in range(200)]
    held = api.asked(
        f"flows/{orders}/commands?wait=effective&timeout=50",
        {"command": "hold", "keys": [*keys, keys[0], {"key_base64": "/w=="}], "reason": "all"},
    )
    assert (held["requested"], held["failed"]) == (201, 0)
    assert [row["key"] for row in held["results"][:200]] == keys
    assert {row["effective"]["outcome"] for row in held["results"]} <= {"held", "updated"}
    mixed = api.asked(
        f"flows/{orders}/commands?wait=effective&timeout=50",
        {"command": "extend", "keys": [keys[0], new_key("active")], "expires_in": 600},
    )
    assert [row["error"] and row["error"]["code"] for row in mixed["results"]] == [
        None,
        "key-not-held",
    ]
    body = {"command": "release", "keys": keys}
    assert api.asked(f"flows/{orders}/commands?wait=effective&timeout=50", body)["failed"] == 0


def test_same_idempotency_key_in_two_instances_is_one_command(
    api: Api, other: Api, orders: str
) -> None:
    key, once = new_key(), {"Idempotency-Key": uuid.uuid4().hex}
    path = f"flows/{orders}/keys/{key}/hold?wait=effective&timeout=50"
    first = api.asked(path, {"reason": "once"}, headers=once)
    second = other.asked(path, {"reason": "once"}, headers=once)
    assert first["command_id"] == second["command_id"]
    assert first["effective"] == second["effective"]
    outcomes = [
        row["outcome"]
        for item in api.found(f"flows/{orders}/keys/{key}")["history"]
        for row in item["effective"]
        if row["outcome"] != "duplicate"
    ]
    assert outcomes == ["held"]


def test_idempotency_key_of_another_request_is_refused(api: Api, orders: str) -> None:
    once = {"Idempotency-Key": uuid.uuid4().hex}
    api.asked(f"flows/{orders}/keys/{new_key()}/hold", {"reason": "a"}, headers=once)
    answer = api.post(f"flows/{orders}/keys/{new_key()}/hold", json={"reason": "a"}, headers=once)
    assert (answer.status_code, answer.json()["code"]) == (422, "idempotency-key-reused")


def test_two_instances_side_by_side_agree(api: Api, other: Api, orders: str) -> None:
    key = new_key()
    hold(api, orders, key, reason="seen by both")

    def both() -> tuple[Any, Any]:
        return api.found(f"flows/{orders}/keys/{key}"), other.found(f"flows/{orders}/keys/{key}")

    wait_until(lambda: both()[1]["state"] == "HELD", "the other instance")
    mine, theirs = both()
    assert mine == theirs


def test_dead_letters_are_grouped_by_reason_and_shown_in_full(api: Api, orders: str) -> None:
    key = new_key()
    hold(api, orders, key)
    api.asked(
        f"flows/{orders}/events",
        {"key": key, "text": "x" * 20_000, "headers": [{"name": "trace", "value": "<b>"}]},
    )
    wait_until(lambda: len(held_of(api, orders, key)) == 1, "one that is held", PATIENCE_S)
    path = f"flows/{orders}/keys/{key}/dead-letter?wait=effective&timeout=50"
    assert api.asked(path, {"reason": "poison"})["effective"]["outcome"] == "dead-lettered"

    def letters() -> Any:
        return api.found(f"flows/{orders}/dead-letters", key=key, reason="dead-lettered")["records"]

    [letter] = wait_until(letters, "a dead letter", PATIENCE_S)
    assert letter["value"]["truncated"]
    assert letter["source"] is not None
    reasons = api.found(f"flows/{orders}/dead-letters/reasons")
    assert [r["reason"] for r in reasons["reasons"] if r["count"]] == ["dead-lettered"]
    place = f"{letter['partition']}/{letter['offset']}"
    whole = api.found(f"flows/{orders}/dead-letters/{place}")
    assert whole["value"]["text"] == "x" * 20_000
    assert whole["headers"][0]["value"]["text"] == "<b>"


def test_flow_shows_rates_lag_and_health(api: Api, orders: str) -> None:
    for number in range(20):
        api.asked(f"flows/{orders}/events", {"key": f"k{number}", "value": {"n": number}})

    def moved() -> Any:
        samples = api.found(f"flows/{orders}/series")["samples"]
        return any(s["incoming"] for s in samples) and any(s["outgoing"] for s in samples)

    wait_until(moved, "rates in and out", PATIENCE_S)
    wait_until(
        lambda: api.found(f"flows/{orders}")["now"]["lag"] == 0, "no lag once all is taken",
        PATIENCE_S,
    )  # fmt: skip
    health = api.found(f"flows/{orders}")["health"]
    assert health["state"] == "running"
    assert health["parts"]["gate"]["batch_seconds"] > 0


def test_live_reader_sees_a_hold_become_effective_and_resumes_where_it_was(
    api: Api, orders: str
) -> None:
    key = new_key()
    with api.live(f"flows/{orders}/changes") as live:
        live.next("ready")
        receipt = hold(api, orders, key)
        while (seen := live.next("requested"))["key"] != key:
            pass
        assert seen["command_id"] == receipt["command_id"]
        while live.next("effective")["key"] != key:
            pass
        place = live.place
    api.asked(f"flows/{orders}/keys/{key}/release?wait=effective&timeout=50")
    with api.live(f"flows/{orders}/changes", last_event_id=place) as live:
        while (seen := live.next("requested", "reset"))["key"] != key:
            pass
        assert seen["command"] == "release"


def test_stopped_gate_reports_why_and_continues_after_a_void(
    api: Api, orders: str, kafka_client: Client
) -> None:
    names = FlowNames(orders)
    spoilt = kafka_client.send(names.control, b"not a command", b"k").result().offset

    def stopped() -> Any:
        health = api.found(f"flows/{orders}")["health"]
        return health["state"] in ("failed", "waiting") and health

    health = wait_until(stopped, "a gate that says that it has stopped", PATIENCE_S)
    assert str(spoilt) in health["reason"]
    api.asked(f"flows/{orders}/void", {"offset": spoilt, "reason": "a slip"})
    wait_until(
        lambda: api.found(f"flows/{orders}")["health"]["state"] == "running", "it goes on",
        PATIENCE_S,
    )  # fmt: skip
    rows = api.found(f"flows/{orders}/audit", log="control", command="void")["rows"]
    assert [row["reason"] for row in rows] == ["a slip"]


def test_stopped_pipeline_is_shown_as_stopped(api: Api, orders: str, pipeline: Pipeline) -> None:
    """Last in this file: nothing becomes effective from here on."""
    pipeline.stop()
    wait_until(
        lambda: api.found(f"flows/{orders}")["health"]["state"] == "stopped", "stopped", PATIENCE_S
    )
    receipt = api.asked(
        f"flows/{orders}/keys/{new_key()}/hold?wait=effective&timeout=1", {"reason": "late"}
    )
    assert receipt["effective"] is None
    assert receipt["offset"] is not None
