"""Hooks as records, their events, bodies and signatures."""

import hmac
import json
from dataclasses import replace
from functools import partial
from hashlib import sha256
from typing import Any

import pytest

from holdfast.errors import InvalidArgumentError, InvalidRecordError
from holdfast.flows.holds import GUARD
from holdfast.flows.journal import CommandReference, JournalRecord, Outcome
from holdfast.flows.reports import Report
from holdfast.hooks.bodies import body_of
from holdfast.hooks.delivery import (
    SLOTS,
    Delivery,
    apply_delivery,
    encode_delivery,
    next_number,
    of_hook,
    sign,
)
from holdfast.hooks.event import HookEvent, event_of_journal
from holdfast.hooks.gate_watch import GateWatch
from holdfast.hooks.hook import BodyFormat, EventKind, Hook, apply_hook, encode_hook, new_hook

make = partial(new_hook, now=1_767_225_600_000, created_by="anna")
HOOK = make("https://example.com/a/secret/path", ["held", "stopped"])
EVENT = HookEvent(
    id="orders.journal-1-7", kind=EventKind.HELD, flow="orders", at=1_767_225_600_000,
    key=b"customer-7", partition=1, cut=41, actor="anna", reason="stolen card", hold="anna",
)  # fmt: skip
RECORD = JournalRecord(
    outcome=Outcome.HELD, cut=41, step=3, at=1_767_225_600_000, key=b"customer-7",
    command=CommandReference("c-1", "hold", 4), name="anna",
)  # fmt: skip


def test_hook_is_read_back_as_it_was_written() -> None:
    hooks: dict[str, Hook] = {}
    apply_hook(hooks, *encode_hook(HOOK))
    assert hooks == {HOOK.id: HOOK}
    apply_hook(hooks, HOOK.id.encode(), None)
    assert hooks == {}


def test_hook_with_a_forbidden_url_on_the_topic_is_unreadable() -> None:
    key, value = encode_hook(HOOK)
    fields = {**json.loads(value), "url": "file:///etc/passwd"}
    with pytest.raises(InvalidRecordError, match="cannot be called"):
        apply_hook({}, key, json.dumps(fields).encode())


@pytest.mark.parametrize(
    ("url", "on", "name"),
    [
        ("ftp://example.com/", ["held"], ""),
        ("https://example.com/", ["test"], ""),
        ("https://example.com/", ["holding"], ""),
        ("https://example.com/", [], ""),
        ("https://example.com/", ["held"], "a/b"),
    ],
)
def test_hooks_that_cannot_work_are_refused(url: str, on: list[str], name: str) -> None:
    with pytest.raises(InvalidArgumentError):
        make(url, on, name=name)


def test_path_of_a_url_is_not_shown() -> None:
    assert HOOK.origin == "https://example.com/…"
    assert HOOK.name == "example.com"


def _requester(flow: str, command: CommandReference) -> tuple[str, str]:
    return ("anna", "stolen card") if (flow, command.id) == ("orders", "c-1") else ("", "")


def test_outcome_becomes_an_event_with_actor_and_reason() -> None:
    assert event_of_journal("orders", 1, 7, RECORD, _requester) == EVENT


@pytest.mark.parametrize(
    ("change", "kind"),
    [
        ({"outcome": Outcome.EXPIRED}, EventKind.EXPIRED),
        ({"outcome": Outcome.DRAINED}, EventKind.DRAINED),
        ({"name": GUARD, "command": None}, EventKind.PARKED),
        ({"outcome": Outcome.EXPIRED, "name": GUARD}, None),  # the guard tries again
        ({"outcome": Outcome.UPDATED}, None),
        ({"key": None}, None),
    ],
)
def test_kinds_of_outcomes(change: dict[str, Any], kind: EventKind | None) -> None:
    event = event_of_journal("orders", 1, 7, replace(RECORD, **change), _requester)
    assert (event and event.kind) == kind


def test_json_body_has_every_known_field() -> None:
    assert json.loads(body_of(EVENT, BodyFormat.JSON)) == {
        "id": "orders.journal-1-7", "event": "held", "flow": "orders",
        "at": "2026-01-01T00:00:00.000Z", "key": "customer-7", "partition": 1, "cut": 41,
        "actor": "anna", "reason": "stolen card", "hold": "anna",
    }  # fmt: skip
    binary = body_of(replace(EVENT, key=b"\xff"), BodyFormat.JSON)
    assert json.loads(binary)["key_base64"] == "/w=="


def test_slack_message_is_text_without_markup_of_the_data() -> None:
    evil = replace(EVENT, key=b"<!channel>*x*", reason="<http://x|click>\n`code`")
    text = json.loads(body_of(evil, BodyFormat.SLACK))["text"]
    assert "is held by anna" in text
    assert "<" not in text
    assert "*x*" not in text
    assert text.count("\n") == 1
    for kind in EventKind:
        assert json.loads(body_of(replace(EVENT, kind=kind), BodyFormat.SLACK))["text"]


def test_signature_covers_time_and_body() -> None:
    signature = sign("secret", b"{}", 1_767_225_600)
    digest = hmac.new(b"secret", b"1767225600.{}", sha256).hexdigest()
    assert signature == f"t=1767225600,v1={digest}"


def test_log_of_deliveries_is_bounded() -> None:
    log: dict[str, Delivery] = {}
    for _ in range(SLOTS + 30):
        delivery = Delivery(
            hook=HOOK.id, number=next_number(log, HOOK.id), event="e", kind="held", flow="orders",
            attempt=1, at=1, status=200,
        )  # fmt: skip
        apply_delivery(log, *encode_delivery(delivery))
    assert len(log) == SLOTS
    assert [each.number for each in of_hook(log, HOOK.id)][:2] == [SLOTS + 29, SLOTS + 28]


def report(state: Any, part: str = "gate") -> Report:
    return Report(flow="orders", part=part, state=state, at=1_000, process="p", reason="Because.")


def test_gate_that_goes_down_is_reported_once_until_it_is_up_again() -> None:
    watch = GateWatch()
    assert watch.take(report("running"), now=1_000, is_new=True) is None
    failed = watch.take(report("failed"), now=2_000, is_new=True)
    assert failed is not None
    assert (failed.kind, failed.reason) == (EventKind.STOPPED, "Because.")
    assert watch.take(report("failed"), now=3_000, is_new=True) is None
    assert watch.take(report("running"), now=4_000, is_new=True) is None
    assert watch.take(report("stopped"), now=5_000, is_new=True) is not None
    assert watch.take(report("failed", part="raw-zone"), now=6_000, is_new=True) is None


def test_gate_that_reports_no_more_is_reported_once() -> None:
    watch = GateWatch()
    watch.take(report("running"), now=1_000, is_new=True)
    assert watch.silent(20_000) == []
    [event] = watch.silent(40_000)
    assert "Is the pipeline running?" in event.reason
    assert watch.silent(50_000) == []


def test_report_from_before_a_restart_is_no_event() -> None:
    watch = GateWatch()
    assert watch.take(report("failed"), now=1_000, is_new=False) is None
    assert watch.silent(99_000_000) == []
