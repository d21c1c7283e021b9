"""The dashboard's pages as each role gets them; what takes a gate is in tests/browser."""

import html
import json
from collections.abc import Iterator
from typing import Any

import pytest
from tests.brokers import EmbeddedBroker
from tests.clients import DEADLINE_S, wait_until
from tests.conftest import unique_name
from tests.integration.web.instances import Instance, bearing, connection_to

from holdfast.access.masks import MASK
from holdfast.access.roles import Role
from holdfast.client.client import Client
from holdfast.client.dead_letters import ERROR, MESSAGE
from holdfast.client.planned_topics import make_table
from holdfast.client.source import SOURCE
from holdfast.clock import now_ms
from holdfast.dashboard.lanes import LANE_ROWS
from holdfast.flows.reports import REPORTS_TOPIC, Report, encode_report

SECRET = "4111-1111"


@pytest.fixture(scope="module")
def flow(guarded: Instance, guarded_broker: EmbeddedBroker) -> Iterator[str]:
    """A flow that masks a part of its values, with an event, and a hold that nobody carries out."""
    name = unique_name("pages").lower()
    with Client(connection_to(guarded_broker)) as client:
        client.flow(name).create(partitions=2, masks=("$.card",))
        client.flow(name).hold("k", reason="to look at", actor="tests")
        client.send(f"{name}.events", {"type": "paid", "card": SECRET}, key="k").result(DEADLINE_S)
        views = guarded.app.state.services.views
        wait_until(lambda: any(view.name == name for view in views.flows()), "the flow's view")
        yield name


@pytest.mark.parametrize("role", list(Role))
def test_values_are_masked_for_viewers_alone(
    guarded: Instance, tokens: dict[Role, str], flow: str, role: Role
) -> None:
    page = guarded.get(f"/topics/{flow}.events", headers=bearing(tokens[role])).text
    assert (SECRET in page) is (role > Role.VIEWER)
    assert (MASK in page) is (role is Role.VIEWER)


def test_dead_letters_are_listed_by_the_reason_that_holdfast_gave(
    guarded: Instance, guarded_broker: EmbeddedBroker, tokens: dict[Role, str], flow: str
) -> None:
    """Events may bring along headers of any name, and one may have been dead-lettered twice."""
    given = {
        "first": [(ERROR, "overflow"), (SOURCE, "0:1"), (ERROR, "invalid"), (MESSAGE, "no JSON")],
        "second": [(SOURCE, "0:2"), (ERROR, "overflow"), (MESSAGE, "full")],
        "third": [(ERROR, "overflow"), (MESSAGE, "forged")],
    }
    with Client(connection_to(guarded_broker)) as client:
        for letter, headers in given.items():
            value = f"the {letter} letter"
            client.send(f"{flow}.dlq", value, key="k", headers=headers).result(DEADLINE_S)

    def listed(reason: str) -> list[str]:
        where = f"/dead-letters/fragments/messages?flow={flow}&reason={reason}"
        page = guarded.get(where, headers=bearing(tokens[Role.ADMIN])).text
        return [letter for letter in given if f"the {letter} letter" in page]

    reasons = {"invalid": ["first"], "overflow": ["second"], "unknown": ["third"]}
    assert {reason: listed(reason) for reason in reasons} == reasons
    page = guarded.get(f"/dead-letters?flow={flow}", headers=bearing(tokens[Role.ADMIN])).text
    for reason in reasons:
        assert f"flow={flow}&amp;reason={reason}" in page


def test_health_shows_the_files_of_a_raw_zone_and_within_which_time_events_land(
    guarded: Instance, guarded_broker: EmbeddedBroker, tokens: dict[Role, str], flow: str
) -> None:
    report = Report(
        flow=flow, part="raw-zone", state="running", at=now_ms(), process="p",
        files=1_234, lands_within=60.0,
    )  # fmt: skip
    key, value = encode_report(report)
    with Client(connection_to(guarded_broker)) as client:
        make_table(connection_to(guarded_broker), REPORTS_TOPIC)
        client.send(REPORTS_TOPIC, value, key=key).result(DEADLINE_S)

    def shown() -> bool:
        page = guarded.get("/health", headers=bearing(tokens[Role.VIEWER])).text
        return "1,234" in page and "within 1m" in page

    wait_until(shown, "the number of files")


def lane_rows(lines: Iterator[str]) -> Iterator[dict[str, Any]]:
    """The events of a flow's stream about its lanes."""
    for line in lines:
        if line.startswith("data: {") and '"lane"' in line:
            yield json.loads(line.removeprefix("data: "))


@pytest.mark.parametrize("role", list(Role))
def test_lanes_begin_with_the_latest_records_masked_for_viewers_alone(
    guarded: Instance,
    guarded_broker: EmbeddedBroker,
    tokens: dict[Role, str],
    flow: str,
    role: Role,
) -> None:
    headers = bearing(tokens[role])
    with Client(connection_to(guarded_broker)) as client:
        # The whole value is what a lane shows of an event that does not say what it is.
        sent = [client.send(f"{flow}.events", {"n": n, "card": SECRET}, key="t") for n in range(9)]
        coordinates = [
            f"{one.partition}:{one.offset}" for one in (s.result(DEADLINE_S) for s in sent)
        ]
        # A reader that comes back gets the latest again, also those that came meanwhile.
        for _ in range(2):
            with guarded.stream("GET", f"/flows/{flow}/live", headers=headers) as live:
                told = lane_rows(live.iter_lines())
                begun = next(told)
                assert (begun["lane"], begun["first"]) == ("events", True)
                assert [row["at"] for row in begun["rows"]] == coordinates[-LANE_ROWS:]
                late = client.send(f"{flow}.events", {"card": SECRET}, key="t").result(DEADLINE_S)
                following = next(told)
                assert following["first"] is False
                assert [row["at"] for row in following["rows"]] == [
                    f"{late.partition}:{late.offset}"
                ]
            coordinates.append(f"{late.partition}:{late.offset}")
            rows = begun["rows"] + following["rows"]
            assert {SECRET in row["label"] for row in rows} == {role > Role.VIEWER}


def test_only_operators_see_buttons_of_commands(
    guarded: Instance, tokens: dict[Role, str], flow: str
) -> None:
    for path in (f"/flows/{flow}", f"/flows/{flow}/keys/k"):
        viewed = guarded.get(path, headers=bearing(tokens[Role.VIEWER])).text
        assert "hx-post" not in viewed, path
        operated = guarded.get(path, headers=bearing(tokens[Role.OPERATOR])).text
        assert "hx-post" in operated, path


def test_command_without_a_running_gate_stays_pending(
    guarded: Instance, tokens: dict[Role, str], flow: str
) -> None:
    headers = bearing(tokens[Role.VIEWER])
    wait_until(
        lambda: "Hold requested" in guarded.get(f"/flows/{flow}", headers=headers).text,
        "the pending command",
    )
    page = guarded.get(f"/flows/{flow}/keys/k", headers=headers).text
    assert "Hold requested" in page
    assert ">HELD<" not in page


def test_error_is_a_page_or_the_text_of_a_fragment(
    guarded: Instance, tokens: dict[Role, str], flow: str
) -> None:
    headers = bearing(tokens[Role.VIEWER])
    whole = guarded.get("/flows/there-is-none", headers=headers)
    assert whole.status_code == 404
    assert "<h1>Not found</h1>" in whole.text
    part = guarded.get(
        f"/flows/{flow}/fragments/keys?cursor=nonsense", headers={**headers, "HX-Request": "true"}
    )
    assert part.status_code == 422
    assert part.headers["content-type"].startswith("text/plain")
    assert "cursor" in part.text


def test_records_of_topics_outside_flows_are_not_shown(
    guarded: Instance, tokens: dict[Role, str]
) -> None:
    answer = guarded.get("/topics/holdfast.tokens", headers=bearing(tokens[Role.ADMIN]))
    assert answer.status_code == 404
    listed = guarded.get("/topics", headers=bearing(tokens[Role.VIEWER])).text
    assert "holdfast.tokens" in listed
    assert 'href="/topics/holdfast.tokens"' not in listed


def test_static_files_are_kept_by_browsers_for_ever_and_pages_are_not(
    guarded: Instance, tokens: dict[Role, str]
) -> None:
    page = guarded.get("/", headers=bearing(tokens[Role.VIEWER]))
    assert page.headers["cache-control"] == "no-store"
    address = page.text.split('<link rel="stylesheet" href="')[1].split('"')[0]
    style = guarded.get(address)
    assert "immutable" in style.headers["cache-control"]
    assert style.headers["content-encoding"] == "gzip"


def test_changes_between_a_page_and_its_stream_are_delivered(
    guarded: Instance, guarded_broker: EmbeddedBroker, tokens: dict[Role, str], flow: str
) -> None:
    headers = bearing(tokens[Role.VIEWER])
    page = guarded.get(f"/flows/{flow}", headers=headers).text
    address = html.unescape(page.split('data-stream="')[1].split('"')[0])
    with Client(connection_to(guarded_broker)) as client:
        client.flow(flow).hold("between", reason="nobody listens yet", actor="tests")
    shown = guarded.app.state.services.views.flow(flow)
    wait_until(lambda: shown.key(b"between").row.pending, "the command in the view")
    with guarded.stream("GET", address, headers=headers) as live:
        told = next(line for line in live.iter_lines() if line.startswith("data: ["))
    assert "requested" in json.loads(told.removeprefix("data: "))


def test_lag_of_a_group_that_has_committed_nothing_is_not_shown_as_a_number(
    guarded: Instance, guarded_broker: EmbeddedBroker, tokens: dict[Role, str], flow: str
) -> None:
    group = unique_name("undecided")
    with Client(connection_to(guarded_broker)) as client:
        topic = f"{flow}.events"
        with client.consumer(topic, group=group, auto_commit=False) as consumer:
            list(consumer.records(limit=1))
            page = guarded.get(f"/groups/{group}", headers=bearing(tokens[Role.VIEWER])).text
            listed = guarded.get("/groups", headers=bearing(tokens[Role.VIEWER])).text
    assert "<dt>Lag</dt><dd>—" in page.replace("\n", "")
    (line,) = [row for row in listed.split("<tr") if f'data-key="{group}"' in row]
    assert 'data-l="Lag">—<' in line


def test_wrong_filter_is_explained_under_its_field_and_nothing_typed_is_lost(
    guarded: Instance, tokens: dict[Role, str], flow: str
) -> None:
    typed = {"path": "$.[", "text": "pa id", "since": "2h", "partition": "1"}
    answer = guarded.get(
        f"/topics/{flow}.events", params=typed, headers=bearing(tokens[Role.VIEWER])
    )
    assert answer.status_code == 422
    assert 'id="m-path-err"' in answer.text
    for value in typed.values():
        assert f'value="{value}"' in answer.text
    answer = guarded.get(
        "/audit", params={"since": "noon", "actor": "ana"}, headers=bearing(tokens[Role.VIEWER])
    )
    assert answer.status_code == 422
    assert 'id="a-since-err"' in answer.text
    assert 'value="ana"' in answer.text


@pytest.mark.parametrize("form", ["csv", "json"])
def test_exports_have_the_rows_of_the_filter_as_the_actor_may_see_them(
    guarded: Instance, tokens: dict[Role, str], flow: str, form: str
) -> None:
    def export(address: str, **given: str) -> str:
        answer = guarded.get(
            address, params={"form": form, **given}, headers=bearing(tokens[Role.VIEWER])
        )
        assert answer.status_code == 200, answer.text
        assert "attachment" in answer.headers["content-disposition"]
        return answer.text

    assert "to look at" in export("/audit/export", key="k")
    assert "to look at" not in export("/audit/export", key="other")
    assert "to look at" not in export("/audit/export", until="1h")
    records = export(f"/topics/{flow}.events/export", key="k")
    assert "paid" in records
    assert SECRET not in records
    assert "hold" in export(f"/flows/{flow}/export", show="pending")


def test_audit_of_all_flows_names_the_flow_of_each_row(
    guarded: Instance, tokens: dict[Role, str], flow: str
) -> None:
    rows = guarded.get("/api/v1/audit", headers=bearing(tokens[Role.VIEWER])).json()["rows"]
    assert (flow, "to look at") in [(row["flow"], row["reason"]) for row in rows]
    wrong = guarded.get("/api/v1/audit?since=noon", headers=bearing(tokens[Role.VIEWER]))
    assert wrong.status_code == 422
    assert wrong.json()["errors"][0]["where"] == "query.since"
