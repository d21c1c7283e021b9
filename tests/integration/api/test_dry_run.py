"""A dry run makes every check and appends nothing; the audit names the program that acted."""

from typing import Any

import pytest
from tests.integration.api.served import Api

ANNA = {"X-Holdfast-Actor": "anna"}
VIA_MCP = {**ANNA, "X-Holdfast-Via": "mcp"}


def audited(api: Api, flow: str, reason: str) -> list[Any]:
    rows: list[Any] = api.found(f"flows/{flow}/audit", text=reason)["rows"]
    return rows


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("keys/dry-1/hold", {}),
        ("keys/dry-1/release", {}),
        ("keys/dry-1/dead-letter", {}),
        ("pause", {}),
        ("resume", {"all": True}),
        ("prefixes/hold", {"prefix": "dry/"}),
        ("prefixes/release", {"prefix": "dry/", "all": True}),
    ],
)
def test_dry_run_appends_nothing(api: Api, idle: str, path: str, body: dict[str, Any]) -> None:
    reason = f"dry run of {path}"
    answer = api.post(
        f"flows/{idle}/{path}", json={**body, "reason": reason}, params={"dry_run": True}
    )
    assert answer.status_code == 200, answer.text
    receipt = answer.json()
    assert (receipt["dry_run"], receipt["offset"], receipt["effective"]) == (True, None, None)
    assert audited(api, idle, reason) == []
    real = api.asked(f"flows/{idle}/{path}", {**body, "reason": f"no {reason}"})
    assert not real["dry_run"]
    assert len(audited(api, idle, f"no {reason}")) == 1


def test_dry_run_of_many_keys_appends_nothing(api: Api, idle: str) -> None:
    body = {"command": "hold", "keys": ["dry-2", "dry-3"], "reason": "dry run of many"}
    answer = api.post(f"flows/{idle}/commands", json=body, params={"dry_run": True})
    assert answer.status_code == 200
    assert [receipt["dry_run"] for receipt in answer.json()["results"]] == [True, True]
    assert audited(api, idle, "dry run of many") == []


def test_dry_run_is_refused_as_the_command_would_be(api: Api, idle: str) -> None:
    extend = f"flows/{idle}/keys/never-held/extend"
    real = api.post(extend, json={"expires_in": 60})
    dry = api.post(extend, json={"expires_in": 60}, params={"dry_run": True})
    assert (dry.status_code, dry.json()["detail"]) == (real.status_code, real.json()["detail"])
    assert dry.status_code == 409


def test_audit_names_the_actor_and_the_program(api: Api, idle: str) -> None:
    hold = f"flows/{idle}/keys/by-program/hold"
    api.asked(hold, {"reason": "asked by a program"}, headers=VIA_MCP)
    [row] = audited(api, idle, "asked by a program")
    assert (row["actor"], row["name"]) == ("anna via mcp", "anna")  # the hold is anna's own
    run = api.asked(f"flows/{idle}/redrives", {"everything": True}, headers=VIA_MCP)
    assert run["actor"] == "anna via mcp"


def test_program_is_a_short_plain_name(api: Api, idle: str) -> None:
    bad = {**ANNA, "X-Holdfast-Via": "mcp via root"}
    answer = api.post(f"flows/{idle}/keys/k/hold", json={}, headers=bad)
    assert answer.status_code == 422, answer.text
    assert "X-Holdfast-Via" in answer.json()["detail"]
