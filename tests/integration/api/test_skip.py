"""Skipping events that cannot be read, from the API and from the dashboard. No pipeline runs."""

import time

import httpx
import pytest
from tests.clients import DEADLINE_S, wait_until
from tests.conftest import unique_name
from tests.integration.api.served import Api

from holdfast.client.client import Client
from holdfast.client.planned_topics import make_table
from holdfast.flows.commands import Skip, decode_command
from holdfast.flows.reports import REPORTS_TOPIC, Report, encode_report
from holdfast.gate import Unreadable, UnreadableEventsError

BAD = Unreadable(1, 1200, 1250, "The batch is damaged")


@pytest.fixture
def flow(api: Api) -> str:
    name = unique_name("stopped").lower()
    api.asked("flows", {"name": name, "partitions": 2})
    return name


def report_stop(kafka_client: Client, name: str) -> None:
    """Report that the gate has stopped. A pipeline repeats this: views forget it after 30 s."""
    report = Report(
        flow=name, part="gate", state="waiting", at=round(time.time() * 1000), process="p",
        reason=str(UnreadableEventsError(name, BAD)),
    )  # fmt: skip
    key, value = encode_report(report)
    make_table(kafka_client.connection, REPORTS_TOPIC)
    kafka_client.send(REPORTS_TOPIC, value, key).result()


def commands(client: Client, flow: str) -> list[Skip]:
    with client.consumer(f"{flow}.control", group=None) as consumer:
        found = [decode_command(r.key, r.value) for r in consumer.records(until="end")]
    assert all(isinstance(each, Skip) for each in found)
    return [each for each in found if isinstance(each, Skip)]


def test_skip_goes_to_the_control_log_once_and_is_shown_in_the_audit(
    api: Api, kafka_client: Client, flow: str
) -> None:
    body = {"partition": 1, "first": 1200, "last": 1249, "reason": "broken"}
    once = {"Idempotency-Key": unique_name("skip")}
    first = api.asked(f"flows/{flow}/skip", body, headers=once)
    again = api.asked(f"flows/{flow}/skip", body, headers=once)
    assert (first["command"], first["command_id"]) == ("skip", again["command_id"])
    assert again["offset"] == first["offset"]
    [asked] = commands(kafka_client, flow)
    assert (asked.partition, asked.first, asked.last, asked.reason) == (1, 1200, 1249, "broken")
    rows = api.found(f"flows/{flow}/audit", command="skip")["rows"]
    assert [row["note"] for row in rows] == ["Skips events 1200 to 1249 of partition 1."]
    other = api.post(f"flows/{flow}/skip", json={**body, "last": 1250}, headers=once)
    assert other.json()["code"] == "idempotency-key-reused"


@pytest.mark.parametrize(
    "given",
    [
        {"partition": 2},
        {"partition": -1},
        {"first": 1300},
        {"last": 2**70},
        {"reason": "x" * 1001},
        {"extra": 1},
    ],
)
def test_skip_of_an_impossible_range_is_refused(
    api: Api, flow: str, given: dict[str, object]
) -> None:
    body = {"partition": 1, "first": 1200, "last": 1249, **given}
    assert api.post(f"flows/{flow}/skip", json=body).status_code in (400, 422)


def test_page_of_a_stopped_flow_offers_to_skip_the_unreadable_events(
    api: Api, kafka_client: Client, flow: str
) -> None:
    address = f"{api.address}/flows/{flow}"

    def offer() -> str | None:
        report_stop(kafka_client, flow)
        page = " ".join(httpx.get(address, timeout=DEADLINE_S).text.split())
        return page if "Skip 50 offsets" in page else None

    page = wait_until(offer, "the button")
    assert "partition 1, offsets 1200 to 1249 (The batch is damaged)" in page
    form = {"partition": 1, "first": 1200, "last": 1249, "reason": "broken"}
    answer = httpx.post(
        f"{address}/skip", data=form, headers={"Origin": api.address}, timeout=DEADLINE_S
    )
    assert (answer.status_code, "Skip requested" in answer.text) == (200, True), answer.text
    assert [(each.first, each.last) for each in commands(kafka_client, flow)] == [(1200, 1249)]


def test_flow_that_has_not_stopped_offers_nothing_to_skip(api: Api) -> None:
    name = unique_name("well").lower()
    api.asked("flows", {"name": name, "partitions": 2})
    assert (
        'data-open="skip"' not in httpx.get(f"{api.address}/flows/{name}", timeout=DEADLINE_S).text
    )
