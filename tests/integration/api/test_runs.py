"""Runs over HTTP: asked for, listed, shown as one may see them, and ended. Without a pipeline."""

from collections.abc import Callable

import pytest
from tests.clients import wait_until
from tests.conftest import unique_name
from tests.integration.api.served import Api

from holdfast.access.roles import Actor, Role
from holdfast.client.client import Client
from holdfast.control.runs import request_run, visible_run
from holdfast.errors import RoleTooLowError
from holdfast.flows.run_specs import Backfill, Coordinate, Redrive, Replay
from holdfast.flows.runs import (
    RUNS_TOPIC,
    Run,
    RunProgress,
    RunRequest,
    RunState,
    encode_progress,
)


def test_a_run_is_asked_for_shown_and_cancelled(api: Api, other: Api, idle: str) -> None:
    run_id = unique_name("run")[:40]
    body = {"keys": ["customer-7", {"key_base64": "/w=="}], "rate": 5, "id": run_id}
    asked = api.asked(f"flows/{idle}/replays", body)
    assert (asked["run"], asked["state"], asked["kind"]) == (run_id, "requested", "replay")
    assert asked["options"] == {"keys": ["customer-7"], "keys_base64": ["/w=="], "rate": 5.0}
    assert api.asked(f"flows/{idle}/replays", body)["requested_at"] == asked["requested_at"]
    conflict = api.post(f"flows/{idle}/replays", json={**body, "rate": 6})
    assert (conflict.status_code, conflict.json()["code"]) == (409, "conflict")

    def seen() -> bool:
        return run_id in [run["run"] for run in other.found("runs", flow=idle)["runs"]]

    wait_until(seen, "the run in the other instance")
    api.asked(f"runs/{run_id}/cancel")
    wait_until(lambda: other.found(f"runs/{run_id}")["cancelled_by"] == "local", "its end asked")
    assert api.get("runs/none").status_code == 404


@pytest.mark.parametrize(
    ("path", "body", "code"),
    [
        ("replays", {"offsets": ["5"]}, "invalid-argument"),
        ("replays", {"rate": 0}, "invalid-request"),
        ("replays", {"unknown": 1}, "invalid-request"),
        ("backfills", {"files": ["a"], "offsets": ["0:1-2"]}, "invalid-argument"),
        ("redrives", {}, "invalid-argument"),
        ("redrives", {"reason": "invalid", "value": "x"}, "invalid-argument"),
        (
            "verifications",
            {"since": "2026-01-02T00:00Z", "until": "2026-01-01T00:00Z"},
            "invalid-argument",
        ),
        ("quality", {"days": 0}, "invalid-request"),
    ],
)
def test_invalid_run_request_is_refused(
    path: str, body: dict[str, object], code: str, api: Api, idle: str
) -> None:
    answer = api.post(f"flows/{idle}/{path}", json=body)
    assert (answer.status_code, answer.json()["code"]) == (422, code)


def test_order_caveat_is_shown_in_forms_and_confirmations(api: Api) -> None:
    described = api.found("openapi.json")
    redrive = described["paths"]["/api/v1/flows/{flow}/redrives"]["post"]["description"]
    assert "goes behind the newer ones of its key" in redrive


def test_pages_show_runs_with_a_bar_and_take_a_redrive(
    api: Api, idle: str, kafka_client: Client
) -> None:
    run = kafka_client.runs.ask(idle, Replay(dry_run=True))
    progress = RunProgress(
        id=run.id, state=RunState.RUNNING, started_at=1, updated_at=2, done=25, total=100, rate=5.0
    )
    key, value = encode_progress(progress)
    kafka_client.send(RUNS_TOPIC, value, key).result()

    def page(path: str) -> str:
        answer = api.get(f"{api.address}{path}")
        assert answer.status_code == 200, answer.text
        return answer.text

    wait_until(lambda: run.id in page("/runs"), "the run in the list")
    wait_until(lambda: 'value="25.0"' in page(f"/runs/{run.id}"), "the bar")
    shown = page(f"/runs/{run.id}")
    assert "25 of 100 events" in " ".join(shown.split())
    assert "Time left" in shown
    assert run.id in page("/runs")
    assert 'data-open="replay"' in page(f"/runs?flow={idle}")
    letter = kafka_client.send(f"{idle}.dlq", "damaged", "k").result()
    at = f"{letter.partition}:{letter.offset}"
    dialog = page(f"/flows/{idle}/fragments/redrive?letter={at}")
    assert "goes behind the newer ones" in dialog
    assert "damaged" in dialog
    form = {"letters": at, "value": "edited", "edited": "true"}
    answer = api.post(f"{api.address}/flows/{idle}/runs/redrive", data=form)
    where = answer.headers["hx-redirect"]
    assert f"letters: {at}" in page(where)
    cancelled = api.post(f"{api.address}{where}/cancel")
    assert "Cancelling" in cancelled.text


def test_audits_are_requested_and_their_verdict_is_shown_with_first_findings(
    api: Api, idle: str, kafka_client: Client
) -> None:
    asked = api.asked(f"flows/{idle}/verifications", {"full": True})
    assert (asked["kind"], asked["options"]) == ("verify", {"full": True})
    assert api.asked(f"flows/{idle}/quality", {"days": 7})["options"] == {"days": 7}
    refresh = api.asked(f"flows/{idle}/refreshes", {"rebuild": True})
    assert (refresh["kind"], refresh["options"]) == ("refresh", {"rebuild": True})
    for path in ("verify", "quality"):
        answer = api.post(f"{api.address}/flows/{idle}/runs/{path}", data={})
        assert answer.headers["hx-redirect"].startswith(f"/runs/{path}-")
    place = {"log": "events", "partition": 1, "offset": 41, "detail": ""}
    found = [{"fault": "doubled", "count": 3, "examples": [place]}]
    check = {"name": "every event in exactly one place", "examined": 9, "not_looked_at": "",
             "violations": 3, "verdict": "VIOLATED", "found": found}  # fmt: skip
    key, value = encode_progress(
        RunProgress(
            id=asked["run"], state=RunState.DONE, started_at=1, updated_at=2, ended_at=3,
            result={"passed": False, "verdict": "not clean", "events": 9, "checks": [check],
                    "not_checked": ["the raw zone, which was excluded"]},
        )
    )  # fmt: skip
    kafka_client.send(RUNS_TOPIC, value, key).result()

    def page() -> str:
        return api.get(f"{api.address}/runs/{asked['run']}").text

    wait_until(lambda: "NOT PASSED" in page(), "the verdict")
    assert "events[1]@41" in page()
    assert "VIOLATED" in page()
    assert "<li>the raw zone, which was excluded</li>" in page()
    listed = next(r for r in api.found("runs", flow=idle)["runs"] if r["run"] == asked["run"])
    assert listed["result"] == {"passed": False, "verdict": "not clean", "events": 9}


async def test_files_are_for_admins(idle: str) -> None:
    work, operator = Backfill(files=("/etc/passwd",)), Actor("o", Role.OPERATOR)
    with pytest.raises(RoleTooLowError, match="needs the role admin"):
        await request_run(None, idle, work, operator)  # type: ignore[arg-type]  # before it is used


def sampled() -> Run:
    request = RunRequest(id="r", flow="f", actor="a", at=1, spec=Replay(where="value = '4111'"))
    sample = [{"partition": 0, "offset": 1, "key": "k", "value": '{"card":"4111","n":1}'},
              {"partition": 0, "offset": 2, "key": "k", "value": None}]  # fmt: skip
    return Run(request, None, RunProgress(
        id="r", state=RunState.DONE, started_at=1, updated_at=1, result={"sample": sample}
    ))  # fmt: skip


def edited() -> Run:
    work = Redrive(letters=(Coordinate(0, 1),), value=b'{"card":"4111"}')
    return Run(RunRequest(id="r", flow="f", actor="a", at=1, spec=work))


@pytest.mark.parametrize("make", [sampled, edited])
def test_a_viewer_sees_no_masked_value_in_a_run(make: Callable[[], Run]) -> None:
    viewer, operator = Actor("v", Role.VIEWER), Actor("o", Role.OPERATOR)
    masked = visible_run(make(), ("$.card",), viewer)
    assert "4111" not in str(masked)
    assert "value_base64" not in masked["options"]
    assert visible_run(make(), ("$.card",), operator)["options"]
    if make is sampled:
        values = [event["value"] for event in masked["result"]["sample"]]
        assert values == ['{"card":"•••","n":1}', None]
        assert "4111" in str(visible_run(make(), ("$.card",), operator))
