"""The API's data is rebuilt from topics, and survives a broker's restart."""

from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.brokers import ApacheKafka, EmbeddedBroker
from tests.clients import DEADLINE_S, wait_until
from tests.conftest import unique_name
from tests.integration.api.served import PATIENCE_S, Api, serving

import holdfast
from holdfast.client.client import Client
from holdfast.flows.commands import Hold, encode_command
from holdfast.views import follower


def test_flow_created_elsewhere_appears_and_own_one_at_once(
    api: Api, other: Api, kafka_client: Client
) -> None:
    here, elsewhere = (unique_name(name).lower() for name in ("here", "elsewhere"))
    kafka_client.flow(elsewhere).create(partitions=1)
    wait_until(lambda: api.get(f"flows/{elsewhere}").status_code == 200, "a flow made elsewhere")
    api.asked("flows", {"name": here, "partitions": 1})
    assert api.get(f"flows/{here}").status_code == 200
    wait_until(lambda: other.get(f"flows/{here}").status_code == 200, "the other instance")
    assert api.post("flows", json={"name": here}).json()["code"] == "already-exists"


def test_flow_with_deleted_topics_does_not_affect_others(tmp_path: Path) -> None:
    with EmbeddedBroker(tmp_path) as broker, holdfast.connect(broker.bootstrap) as client:
        for name in ("broken", "whole"):
            client.flow(name).create(partitions=1)
        client.topics.delete("broken.journal")
        with serving(broker) as api:
            assert [flow["name"] for flow in api.found("flows")["flows"]] == ["whole"]
            api.asked("flows/whole/keys/k/hold")
            assert api.found("flows/whole/keys/k")["pending"] == ["hold"]
            api.asked("flows", {"name": "half", "partitions": 1})
            client.topics.delete("half.events")
            with api.live("changes") as live:
                while live.next("rates")["flow"] != "whole":
                    pass
            assert _ready(api) == 200


def test_flow_is_changed_while_it_runs(api: Api, kafka_client: Client) -> None:
    flow = unique_name("changed").lower()
    api.asked("flows", {"name": flow, "partitions": 1})
    limits = {"key_events": 5, "key_bytes": 6, "flow_events": 7, "flow_bytes": 8}
    answer = api.patch(f"flows/{flow}", json={"limits": limits, "masks": ["$.a"]})
    assert answer.status_code == 200, answer.text
    assert (answer.json()["limits"], answer.json()["masks"]) == (limits, ["$.a"])
    assert api.patch(f"flows/{flow}", json={"masks": ["]["]}).status_code == 422
    for schema in ("id BIGINT NOT NULL", ""):
        answer = api.patch(f"flows/{flow}", json={"schema": schema})
        assert answer.json()["schema"] == (schema or None)
    assert api.patch(f"flows/{flow}", json={"partitions": 2}).status_code == 422


def test_changing_one_limit_keeps_the_others(api: Api) -> None:
    flow = unique_name("limits").lower()
    limits = {"key_events": 5, "key_bytes": 6, "flow_events": 7, "flow_bytes": 8}
    api.asked("flows", {"name": flow, "partitions": 1, "limits": limits})
    for change in ({"flow_events": 70}, {"key_bytes": None}, {}):
        answer = api.patch(f"flows/{flow}", json={"limits": change})
        assert answer.status_code == 200, answer.text
        assert answer.json()["limits"] == {**limits, "flow_events": 70}
    for wrong in ({"key_events": 0}, {"events": 5}):
        assert api.patch(f"flows/{flow}", json={"limits": wrong}).status_code == 422


def test_flow_shows_its_event_id_and_checks(api: Api, other: Api) -> None:
    flow = unique_name("said").lower()
    checks = ["required order.id", "fresh 10m"]
    body = {"name": flow, "partitions": 1, "event_id": "order.id", "checks": checks}
    made = api.asked("flows", body)
    assert (made["event_id"], made["checks"]) == ("order.id", checks)
    wait_until(lambda: other.get(f"flows/{flow}").status_code == 200, "the flow in the other")
    shown = other.found(f"flows/{flow}")
    assert (shown["event_id"], shown["checks"]) == ("order.id", checks)
    changed = api.patch(f"flows/{flow}", json={"checks": ["unique order.id"]}).json()
    assert (changed["event_id"], changed["checks"]) == ("order.id", ["unique order.id"])
    changed = api.patch(f"flows/{flow}", json={"event_id": "", "checks": []}).json()
    assert (changed["event_id"], changed["checks"]) == (None, [])
    for wrong in ({"checks": ["never late"]}, {"event_id": "$.id"}, {"checks": ["fresh 1m"] * 101}):
        refused = api.patch(f"flows/{flow}", json=wrong)
        assert refused.status_code == 422, refused.text
    refused = api.post("flows", json={**body, "name": f"{flow}-2", "checks": ["never late"]})
    assert (refused.status_code, refused.json()["code"]) == (422, "invalid-argument")


def test_requested_command_is_pending_until_a_pipeline_has_carried_it_out(
    api: Api, idle: str
) -> None:
    key = unique_name("key")
    answer = api.post(f"flows/{idle}/keys/{key}/hold", json={"reason": "later"})
    assert answer.status_code == 202
    assert answer.json()["effective"] is None
    shown = api.found(f"flows/{idle}/keys/{key}")
    assert (shown["state"], shown["pending"]) == ("ACTIVE", ["hold"])
    assert api.found(f"flows/{idle}/keys", text=key, pending=True)["total"] == 1
    command = api.found(f"flows/{idle}/commands/{answer.json()['command_id']}")
    assert (command["requested"]["reason"], command["effective"]) == ("later", [])
    assert api.found(f"flows/{idle}")["health"]["state"] == "unknown"


def test_ten_thousand_keys_are_taken_at_once_and_one_more_is_refused(api: Api, idle: str) -> None:
    name = unique_name("bulk")
    keys = [f"{name}-{number}" for number in range(10_000)]
    body = {"command": "hold", "keys": keys, "reason": name}
    done = api.asked(f"flows/{idle}/commands", body)
    assert (done["requested"], done["failed"], len(done["results"])) == (10_000, 0, 10_000)
    assert [row["key"] for row in done["results"]] == keys
    assert api.found(f"flows/{idle}/keys", text=name, limit=1)["total"] == 10_000
    answer = api.post(f"flows/{idle}/commands", json={**body, "keys": [*keys, "one more"]})
    assert (answer.status_code, answer.json()["code"]) == (422, "invalid-request")


def test_audit_reads_back_beyond_the_memory_of_the_view(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(follower, "WINDOW", 20)
    with EmbeddedBroker(tmp_path) as broker, holdfast.connect(broker.bootstrap) as client:
        client.flow("long").create(partitions=1)
        # Many at the same moment: a bulk command is all of one time.
        for number in range(100):
            hold = Hold(
                id=f"c{number}", actor=f"actor-{number % 3}", key=b"k%d" % (number % 5),
                at=1_700_000_000_000 + number // 10 * 1_000,
            )  # fmt: skip
            key, value = encode_command(hold)
            client.send("long.control", value, key, timestamp=hold.at)
        client.close()
        with serving(broker) as api:
            for limit in (7, 10, 500):
                found = _paged(api, "flows/long/audit", limit=limit)
                assert found == [f"c{n}" for n in range(99, -1, -1)], limit
            assert _paged(api, "flows/long/audit", key="k2") == [f"c{n}" for n in range(97, -1, -5)]
            assert _paged(api, "flows/long/audit", actor="actor-1") == [
                f"c{n}" for n in range(97, -1, -3)
            ]
            assert api.found("flows/long/keys/k2")["history_since"] is not None


def _paged(api: Api, path: str, **query: Any) -> list[str]:
    found: list[str] = []
    cursor: dict[str, str] = {}
    while True:
        page = api.found(path, **{"limit": 7, **query, **cursor})
        found += [row["command_id"] for row in page["rows"]]
        if page["cursor"] is None:
            return found
        cursor = {"cursor": page["cursor"]}


def test_reader_of_another_instance_gets_a_reset(api: Api, other: Api, idle: str) -> None:
    with api.live(f"flows/{idle}/changes") as live:
        live.next("ready")
        place = live.place
    with other.live(f"flows/{idle}/changes", last_event_id=place) as live:
        live.next("reset")


def test_stream_of_all_flows_has_rates_each_second(api: Api, idle: str) -> None:
    with api.live("changes") as live:
        while live.next("rates")["flow"] != idle:
            pass


def test_views_report_a_lost_broker_and_continue_when_it_returns(tmp_path: Path) -> None:
    with EmbeddedBroker(tmp_path) as broker, holdfast.connect(broker.bootstrap) as client:
        client.flow("through").create(partitions=2)
        with serving(broker, request_timeout=3.0) as api:
            broker.stop()
            wait_until(lambda: _ready(api) == 503, "an instance that is not ready", PATIENCE_S)
            assert api.get("flows/through").status_code == 200
            answer = api.get("cluster")
            assert answer.status_code in (503, 504)
            assert answer.headers["content-type"] == "application/problem+json"
            broker.start()
            wait_until(lambda: _ready(api) == 200, "an instance that is ready", PATIENCE_S)
            api.asked("flows/through/keys/k/hold")
            assert api.found("flows/through/keys/k")["pending"] == ["hold"]


def _ready(api: Api) -> int:
    return httpx.get(f"{api.address}/readyz", timeout=DEADLINE_S).status_code


@pytest.mark.apache
def test_promises_hold_on_apache_kafka(apache_kafka: ApacheKafka) -> None:
    flow = unique_name("apache").lower()
    with serving(apache_kafka) as api:
        api.asked("flows", {"name": flow, "partitions": 2})
        sent = [api.asked(f"flows/{flow}/events", {"key": "k", "value": n}) for n in range(3)]
        assert [s["source"]["offset"] for s in sent] == [0, 1, 2]
        page = api.found(f"flows/{flow}/topics/events/records", limit=2)
        assert [r["value"]["text"] for r in page["records"]] == ["2", "1"]
        more = api.found(f"flows/{flow}/topics/events/records", limit=2, cursor=page["cursor"])
        assert [r["value"]["text"] for r in more["records"]] == ["0"]
        with api.live(f"flows/{flow}/changes") as live:
            live.next("ready")
            receipt = api.asked(f"flows/{flow}/keys/b64.YS9i/hold", {"reason": "x"})
            assert live.next("requested")["command_id"] == receipt["command_id"]
        assert api.found(f"flows/{flow}/keys/b64.YS9i")["pending"] == ["hold"]
        assert api.found(f"flows/{flow}/audit")["rows"][0]["key"] == "a/b"
        assert f"{flow}.held" in [topic["name"] for topic in api.found("topics")["topics"]]
        api.found("groups")
        with api.live(f"flows/{flow}/topics/events/tail") as live:
            live.next("ready")
            api.asked(f"flows/{flow}/events", {"key": "k", "text": "live"})
            assert live.next("record")["value"]["text"] == "live"
