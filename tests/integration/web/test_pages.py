"""The dashboard's pages as each role gets them; what takes a gate is in tests/browser."""

import html
import json
from collections.abc import Iterator
from typing import Any

import pytest
from tests.brokers import EmbeddedBroker
from tests.clients import wait_until
from tests.conftest import unique_name
from tests.integration.web.instances import Instance, bearing, connection_to

from holdfast.access.masks import MASK
from holdfast.access.roles import Role
from holdfast.client.client import Client
from holdfast.dashboard.lanes import LANE_ROWS

SECRET = "4111-1111"


@pytest.fixture(scope="module")
def flow(guarded: Instance, guarded_broker: EmbeddedBroker) -> Iterator[str]:
    """A flow that masks a part of its values, with an event, and a hold that nobody carries out."""
    name = unique_name("pages").lower()
    with Client(connection_to(guarded_broker)) as client:
        client.flow(name).create(partitions=2, masks=("$.card",))
        client.flow(name).hold("k", reason="to look at", actor="tests")
        client.send(f"{name}.events", {"type": "paid", "card": SECRET}, key="k").result(30)
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


def lane_rows(lines: Iterator[str]) -> Iterator[dict[str, Any]]:
    """What a flow's stream says about its lanes."""
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
        coordinates = [f"{one.partition}:{one.offset}" for one in (s.result(30) for s in sent)]
        # A reader that comes back is given the latest anew, also those that came meanwhile.
        for _ in range(2):
            with guarded.stream("GET", f"/flows/{flow}/live", headers=headers) as live:
                told = lane_rows(live.iter_lines())
                begun = next(told)
                assert (begun["lane"], begun["first"]) == ("events", True)
                assert [row["at"] for row in begun["rows"]] == coordinates[-LANE_ROWS:]
                late = client.send(f"{flow}.events", {"card": SECRET}, key="t").result(30)
                following = next(told)
                assert following["first"] is False
                assert [row["at"] for row in following["rows"]] == [
                    f"{late.partition}:{late.offset}"
                ]
            coordinates.append(f"{late.partition}:{late.offset}")
            rows = begun["rows"] + following["rows"]
            assert {SECRET in row["label"] for row in rows} == {role > Role.VIEWER}


def test_only_operators_are_shown_what_acts(
    guarded: Instance, tokens: dict[Role, str], flow: str
) -> None:
    for path in (f"/flows/{flow}", f"/flows/{flow}/keys/k"):
        viewed = guarded.get(path, headers=bearing(tokens[Role.VIEWER])).text
        assert "hx-post" not in viewed, path
        operated = guarded.get(path, headers=bearing(tokens[Role.OPERATOR])).text
        assert "hx-post" in operated, path


def test_command_that_nobody_carries_out_is_pending_not_effective(
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


def test_error_is_a_page_for_people_and_text_for_parts(
    guarded: Instance, tokens: dict[Role, str], flow: str
) -> None:
    headers = bearing(tokens[Role.VIEWER])
    whole = guarded.get("/flows/there-is-none", headers=headers)
    assert whole.status_code == 404
    assert "<h1>There is no such thing</h1>" in whole.text
    part = guarded.get(
        f"/flows/{flow}/fragments/keys?cursor=nonsense", headers={**headers, "HX-Request": "true"}
    )
    assert part.status_code == 422
    assert part.headers["content-type"].startswith("text/plain")
    assert "cursor" in part.text


def test_topics_of_no_flow_cannot_be_looked_into(
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


def test_what_changes_between_a_page_and_its_stream_is_told(
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
