"""Browsing, tailing and sending: bounded, in order, resumable, and masked for viewers."""

import json
from collections.abc import Iterator
from itertools import count
from typing import Any

import pytest
from tests.brokers import EmbeddedBroker
from tests.clients import KEPT, wait_until
from tests.conftest import unique_name
from tests.integration.api.served import Api, serving

import holdfast
from holdfast.access.roles import Role
from holdfast.access.token_log import TokenLog
from holdfast.client.client import Client
from holdfast.client.dead_letters import ERROR, MESSAGE
from holdfast.client.log_reader import LogReader
from holdfast.client.positions import Partition
from holdfast.client.source import SOURCE
from holdfast.control import live_tail, records
from holdfast.errors import TimedOutError
from holdfast.flows.names import FlowNames
from holdfast.flows.status import Entry, KeyState, encode_entry


@pytest.fixture(scope="module")
def browsed(api: Api, kafka_client: Client) -> str:
    """A flow with 300 events in three partitions, a second apart, and dead letters."""
    flow = unique_name("browsed").lower()
    api.asked("flows", {"name": flow, "partitions": 3})
    kafka_client.topics.set_config(f"{flow}.events", KEPT)
    for number in range(300):
        kafka_client.send(
            f"{flow}.events",
            {"number": number, "kind": "even" if number % 2 == 0 else "odd"},
            key=f"key-{number % 10}",
            headers={"trace": str(number)},
            timestamp=1_700_000_000_000 + 1_000 * number,
            partition=number % 3,
        )
    for number, (kind, why) in enumerate([("invalid", "a"), ("overflow", "b"), ("invalid", "c")]):
        headers = {SOURCE: f"0:{number}", ERROR: kind, MESSAGE: why}
        kafka_client.send(f"{flow}.dlq", f"letter {number}", key="k", headers=headers)
    # Events may bring along headers of any name.
    forged = {ERROR: "forged", MESSAGE: "forged"}
    kafka_client.send(f"{flow}.dlq", "no letter", key="k", headers=forged)
    own = [*forged.items(), (SOURCE, "0:7"), (ERROR, "invalid"), (MESSAGE, "c")]
    kafka_client.send(f"{flow}.dlq", "letter 3", key="k", headers=own)
    kafka_client.close()
    return flow


def numbers(page: Any) -> list[int]:
    return [json.loads(record["value"]["text"])["number"] for record in page["records"]]


def all_of(api: Api, path: str, **query: Any) -> list[int]:
    found: list[int] = []
    cursor: dict[str, str] = {}
    while True:
        page = api.found(path, **query, **cursor)
        found += numbers(page)
        if page["cursor"] is None:
            return found
        cursor = {"cursor": page["cursor"]}


def test_newest_come_first_over_all_partitions_and_pages_leave_nothing_out(
    api: Api, browsed: str
) -> None:
    path = f"flows/{browsed}/topics/events/records"
    assert numbers(api.found(path, limit=5)) == [299, 298, 297, 296, 295]
    assert all_of(api, path, limit=70) == list(range(299, -1, -1))
    assert all_of(api, path, limit=70, order="oldest") == list(range(300))


@pytest.mark.parametrize(
    ("query", "wanted"),
    [
        ({"partition": 1}, [298, 295, 292]),
        ({"partition": 1, "offset": 10}, [31, 28, 25]),
        ({"partition": 1, "offset": 10, "order": "oldest"}, [31, 34, 37]),
        ({"key": "key-7"}, [297, 287, 277]),
        ({"key": "b64.a2V5LTc"}, [297, 287, 277]),
        ({"text": '"NUMBER":29'}, [299, 298, 297]),
        ({"path": "$.kind", "value": "odd"}, [299, 297, 295]),
        ({"path": "$[?(@.number < 3)]"}, [2, 1, 0]),
        ({"header": "trace=150"}, [150]),
        ({"until": "2023-11-14T22:13:25Z"}, [4, 3, 2]),
        ({"since": "2023-11-14T22:18:15Z", "order": "oldest"}, [295, 296, 297]),
        ({"key": "nobody"}, []),
    ],
)
def test_records_are_found_by_position_time_key_text_and_json_path(
    api: Api, browsed: str, query: dict[str, Any], wanted: list[int]
) -> None:
    page = api.found(f"flows/{browsed}/topics/events/records", limit=3, **query)
    assert numbers(page) == wanted


def test_page_at_its_read_limit_offers_to_continue(
    api: Api, browsed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(records, "MOST_RECORDS", 120)
    monkeypatch.setattr(records, "_LARGEST_CHUNK", 20)
    monkeypatch.setattr(records, "_FIRST_CHUNK", 20)
    path = f"flows/{browsed}/topics/events/records"
    page = api.found(path, text='"number":3,')
    assert page["records"] == []
    assert "120 records" in page["stopped_early"]
    assert all_of(api, path, text='"number":3,') == [3]


def test_large_records_are_read_in_small_chunks(
    api: Api, browsed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(records, "MOST_CHUNK_BYTES", 300)
    path = f"flows/{browsed}/topics/events/records"
    assert all_of(api, path, limit=100) == list(range(299, -1, -1))


def test_page_whose_time_is_up_in_the_middle_of_a_chunk_leaves_nothing_out(
    api: Api, browsed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    read, calls = LogReader.read, count()

    def slow(reader: LogReader, partition: Partition, start: int, end: int) -> Iterator[Any]:
        for messages in read(reader, partition, start, end):
            if next(calls) == 1:
                yield messages[:1]
                raise TimedOutError("nothing arrives")
            yield messages

    monkeypatch.setattr(LogReader, "read", slow)
    path = f"flows/{browsed}/topics/events/records"
    assert all_of(api, path, limit=100) == list(range(299, -1, -1))


def test_one_record_is_shown_in_full_and_one_that_is_not_there_is_not_found(
    api: Api, browsed: str
) -> None:
    path = f"flows/{browsed}/topics/events/records"
    record = api.found(f"{path}/2/5")
    assert record["headers"] == [
        {"name": "trace", "value": {"text": "17", "base64": None, "size": 2, "truncated": False}}
    ]
    for place in ("2/100", "7/0", "0/99999999999"):
        answer = api.get(f"{path}/{place}")
        assert (answer.status_code, answer.json()["code"]) == (404, "not-found")


def test_dead_letters_are_counted_by_reason_and_message(api: Api, browsed: str) -> None:
    found = api.found(f"flows/{browsed}/dead-letters/reasons")
    assert [(r["reason"], r["count"], r["message"]) for r in found["reasons"]] == [
        ("invalid", 2, "c"),
        ("invalid", 1, "a"),
        ("overflow", 1, "b"),
        ("unknown", 1, ""),
    ]
    [only] = api.found(f"flows/{browsed}/dead-letters", reason="overflow")["records"]
    assert (only["value"]["text"], only["error"], only["source"]) == (
        "letter 1", "overflow", {"partition": 0, "offset": 1},
    )  # fmt: skip


def test_reason_of_a_dead_letter_is_never_taken_from_headers_of_the_event(
    api: Api, browsed: str
) -> None:
    letters = api.found(f"flows/{browsed}/dead-letters", limit=2)["records"]
    assert [letter["error"] for letter in letters] == ["invalid", None]
    assert api.found(f"flows/{browsed}/dead-letters", reason="forged")["records"] == []


def test_tail_shows_new_records_and_resumes_without_a_gap(api: Api, idle: str) -> None:
    path = f"flows/{idle}/topics/events/tail"
    with api.live(path) as live:
        live.next("ready")
        api.asked(f"flows/{idle}/events", {"key": "a", "value": {"n": 1}})
        assert live.next("record")["value"]["text"] == '{"n":1}'
        place = live.place
    api.asked(f"flows/{idle}/events", {"key": "a", "value": {"n": 2}})
    with api.live(path, last_event_id=place) as live:
        assert live.next("record", "reset")["value"]["text"] == '{"n":2}'


def test_tail_above_the_rate_is_a_marked_sample(api: Api, idle: str, kafka_client: Client) -> None:
    with api.live(f"flows/{idle}/topics/events/tail") as live:
        live.next("ready")
        for number in range(1_000):
            kafka_client.send(f"{idle}.events", str(number), key="flood")
        kafka_client.close()
        told = live.next("sampled")
    assert told["shown"] <= live_tail.SHOWN_A_SECOND < told["arrived"]


def test_tail_is_filtered(api: Api, idle: str) -> None:
    with api.live(f"flows/{idle}/topics/events/tail", key="wanted") as live:
        live.next("ready")
        for key in ("other", "wanted"):
            api.asked(f"flows/{idle}/events", {"key": key, "text": key})
        assert live.next("record")["key"] == "wanted"


def test_event_gets_the_partition_that_kafka_clients_choose(
    api: Api, idle: str, kafka_client: Client
) -> None:
    expected = kafka_client.send(f"{idle}.events", b"x", key="where").result().partition
    sent = api.asked(f"flows/{idle}/events", {"key": "where", "base64": "/w=="})["source"]
    assert sent["partition"] == expected
    place = f"{sent['partition']}/{sent['offset']}"
    record = api.found(f"flows/{idle}/topics/events/records/{place}")
    assert record["value"]["base64"] == "/w=="


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"text": "a", "value": 1}, 422),
        ({"base64": "no"}, 422),
        ({"key": "k", "partition": 99}, 422),
        ({"unknown": 1}, 422),
        ({"text": "x" * 2_000_000}, 413),
    ],
)
def test_event_that_cannot_be_sent_is_refused(
    api: Api, idle: str, body: dict[str, Any], status: int
) -> None:
    answer = api.post(f"flows/{idle}/events", json=body)
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"


CARD = "4929-0000"
MASKED = json.dumps({"card": {"number": CARD}, "total": 7})


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Api, dict[Role, str]]]:
    """An instance that asks for tokens, with a flow that masks card numbers and has an event, a
    held one and a dead letter."""
    with (
        EmbeddedBroker(tmp_path_factory.mktemp("masked")) as broker,
        holdfast.connect(broker.bootstrap) as client,
    ):
        log = TokenLog(client)
        tokens = {r: log.create(f"the-{r.label}", r, created_by="tests")[1] for r in Role}
        client.flow("cards").create(partitions=1, masks=["$.card.number"])
        names = FlowNames("cards")
        entry = Entry(
            key=b"k", state=KeyState.HELD, command_id="c", actor="ana", since=1, cut=0,
            held_from=0, drained_through=-1, events=1,
        )  # fmt: skip
        key, value = encode_entry(entry)
        client.send(names.status, value, key, partition=0)
        for topic in (names.events, names.held, names.dlq):
            client.send(topic, MASKED, "k", {SOURCE: "0:0"}).result()
        with serving(broker) as api:
            yield api, tokens


@pytest.mark.parametrize(
    "path",
    [
        "topics/events/records",
        "topics/events/records/0/0",
        "topics/held/records",
        "keys/k/held",
        "dead-letters",
        "dead-letters/0/0",
    ],
)
def test_records_of_viewers_have_masked_values(
    guarded: tuple[Api, dict[Role, str]], path: str
) -> None:
    api, tokens = guarded
    for role, token in tokens.items():
        answer = api.get(f"flows/cards/{path}", headers={"Authorization": f"Bearer {token}"})
        assert answer.status_code == 200, answer.text
        assert "total" in answer.text
        assert (CARD in answer.text) is (role >= Role.OPERATOR)


def test_filters_of_viewers_do_not_match_masked_values(
    guarded: tuple[Api, dict[Role, str]],
) -> None:
    api, tokens = guarded
    for role, token in tokens.items():
        answer = api.get(
            "flows/cards/topics/events/records",
            params={"text": CARD},
            headers={"Authorization": f"Bearer {token}"},
        )
        assert len(answer.json()["records"]) == (1 if role >= Role.OPERATOR else 0)


def test_tail_of_a_viewer_has_masked_values(guarded: tuple[Api, dict[Role, str]]) -> None:
    api, tokens = guarded
    viewer, operator = (
        {"Authorization": f"Bearer {tokens[role]}"} for role in (Role.VIEWER, Role.OPERATOR)
    )
    with api.stream("GET", "flows/cards/topics/events/tail", headers=viewer) as tail:
        lines = tail.iter_lines()
        next(line for line in lines if line == "event: ready")
        body = {"key": "k", "text": MASKED}
        assert api.post("flows/cards/events", json=body, headers=operator).status_code == 201
        data = next(line for line in lines if line.startswith("data: ") and "total" in line)
    assert CARD not in data


def test_actor_of_a_command_comes_from_the_credential(
    guarded: tuple[Api, dict[Role, str]],
) -> None:
    api, tokens = guarded
    operator = {"Authorization": f"Bearer {tokens[Role.OPERATOR]}", "X-Holdfast-Actor": "root"}
    assert api.post("flows/cards/keys/a/hold", headers=operator).status_code == 202
    [row] = api.get("flows/cards/audit", params={"key": "a"}, headers=operator).json()["rows"]
    assert row["actor"] == "the-operator"


def test_group_is_listed_with_its_lag(api: Api, idle: str, kafka_client: Client) -> None:
    kafka_client.send(f"{idle}.events", b"x", key="lag").result()
    group = unique_name("readers")
    with kafka_client.consumer(f"{idle}.events", group=group) as consumer:
        for _ in consumer.records(until="end"):
            pass

    def lag() -> Any:
        listed = {g["name"]: g["lag"] for g in api.found("groups")["groups"]}
        return listed.get(group)

    wait_until(lambda: lag() == 0, "a group without lag")
    kafka_client.send(f"{idle}.events", b"x", key="lag").result()
    assert lag() == 1
    detail = api.found(f"groups/{group}")
    assert sum(partition["records"] or 0 for partition in detail["partitions"]) == 1
    assert api.get("groups/nobody").json()["code"] == "not-found"


def test_lag_of_a_group_that_has_committed_nothing_is_null(
    api: Api, idle: str, kafka_client: Client
) -> None:
    kafka_client.send(f"{idle}.events", b"x", key="lag").result()
    group = unique_name("undecided")
    with kafka_client.consumer(f"{idle}.events", group=group, auto_commit=False) as consumer:
        list(consumer.records(limit=1))
        assert {g["name"]: g["lag"] for g in api.found("groups")["groups"]}[group] is None
        assert api.found(f"groups/{group}")["lag"] is None
