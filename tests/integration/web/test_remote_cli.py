"""The command line over REST: with the rights, and under the name, of a token."""

import json
from collections.abc import Callable

import pytest
from tests.brokers import EmbeddedBroker
from tests.clients import wait_until
from tests.conftest import unique_name
from tests.integration.web.instances import Instance, connection_to

from holdfast.access.roles import Role
from holdfast.cli import main
from holdfast.client.client import Client

Shell = Callable[..., str]


@pytest.fixture
def shell(
    guarded: Instance,
    tokens: dict[Role, str],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> Shell:
    """Runs a command as a role; returns what it prints on both streams."""

    def run(role: Role, *arguments: str, code: int = 0) -> str:
        monkeypatch.setenv("HOLDFAST_TOKEN", tokens[role])
        address = str(guarded.base_url).rstrip("/")
        ended = main(["--server", address, *arguments])
        out, err = capsys.readouterr()
        assert ended == code, out + err
        return out + err

    return run


@pytest.fixture(scope="module")
def flow(guarded: Instance, guarded_broker: EmbeddedBroker) -> str:
    name = unique_name("remote").lower()
    with Client(connection_to(guarded_broker)) as client:
        client.flow(name).create(partitions=2)
        views = guarded.app.state.services.views
        wait_until(lambda: any(view.name == name for view in views.flows()), "the flow's view")
    return name


def test_hold_is_signed_by_the_token_and_not_by_the_shell(shell: Shell, flow: str) -> None:
    keys = ["customer-7", "a/b", "ü"]
    shell(Role.OPERATOR, "hold", flow, *keys, "--reason", "fraud", "--expires", "2h")
    listed = json.loads(shell(Role.VIEWER, "audit", flow, "--text", "fraud", "-o", "json"))["rows"]
    assert sorted(row["key"] for row in listed) == sorted(keys)
    assert {row["actor"] for row in listed} == {"the-operator"}


def test_viewer_may_look_and_not_hold(shell: Shell, flow: str) -> None:
    assert flow in shell(Role.VIEWER, "flow", "ls", "-o", "json")
    assert "operator" in shell(Role.VIEWER, "hold", flow, "customer-8", code=1)


def test_actor_other_than_the_token_is_refused(shell: Shell, flow: str) -> None:
    said = shell(Role.OPERATOR, "hold", flow, "customer-8", "--actor", "somebody", code=2)
    assert "You act as 'the-operator'" in said


def test_scopes_status_and_settings_work_over_rest(shell: Shell, flow: str) -> None:
    shell(Role.OPERATOR, "hold", flow, "--prefix", "tenant-7/", "--reason", "down")
    shell(Role.OPERATOR, "flow", "pause", flow, "--reason", "consumers are down")
    shown = json.loads(shell(Role.VIEWER, "status", flow, "never-seen", "-o", "json"))
    assert (shown["state"], shown["seen"]) == ("ACTIVE", "never seen in this flow")
    assert json.loads(shell(Role.VIEWER, "held", flow, "-o", "json")) == []
    shell(Role.ADMIN, "flow", "set", flow, "--key-events", "77")
    described = json.loads(shell(Role.VIEWER, "flow", "describe", flow, "-o", "json"))
    assert described["key events"] == 77


def test_same_id_twice_is_one_command(shell: Shell, flow: str) -> None:
    first, second = (
        json.loads(shell(Role.OPERATOR, "release", flow, "k", "--id", "once", "-o", "json"))
        for _ in range(2)
    )
    assert first["offset"] == second["offset"]


def test_missing_flow_is_not_found(shell: Shell) -> None:
    assert "There is no flow" in shell(Role.VIEWER, "held", "nowhere", code=3)


def test_health_names_every_part_with_reasons_and_an_exit_code(shell: Shell, flow: str) -> None:
    found = json.loads(shell(Role.VIEWER, "health", "-o", "json", code=1))
    parts = {(line["flow"], line["part"]): line for line in found["parts"]}
    assert found["well"] is False
    for part in ("broker", "web", "views", "tokens"):
        assert parts[None, part]["well"], part
    assert "holdfast pipeline" in parts[flow, "gate"]["reason"]
    assert json.loads(shell(Role.VIEWER, "status", flow, "-o", "json", code=1))["parts"]
    assert "There is no flow" in shell(Role.VIEWER, "health", "nowhere", code=3)


def test_health_from_the_broker_is_the_same_without_the_web_process(
    guarded_broker: EmbeddedBroker, flow: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["status", flow, "-o", "json", "-b", guarded_broker.bootstrap]) == 1
    parts = {line["part"]: line for line in json.loads(capsys.readouterr().out)["parts"]}
    assert parts["broker"]["well"]
    assert parts["gate"]["state"] == "unknown"
    assert "web" in parts


def test_errors_of_the_server_are_json_if_the_output_is(shell: Shell, flow: str) -> None:
    error = json.loads(shell(Role.VIEWER, "held", "nowhere", "-o", "json", code=3))["error"]
    assert (error["kind"], error["exit_code"]) == ("not-found", 3)
    error = json.loads(shell(Role.VIEWER, "hold", flow, "k", "-o", "json", code=1))["error"]
    assert "operator" in error["message"]


def test_groups_are_listed_over_rest(shell: Shell) -> None:
    assert isinstance(json.loads(shell(Role.VIEWER, "group", "ls", "-o", "json")), list)
