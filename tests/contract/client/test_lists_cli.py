"""`holdfast audit` and `holdfast dlq` against a broker."""

import csv
import io
import json

import pytest
from tests.brokers import BrokerProcess
from tests.conftest import unique_name

import holdfast
from holdfast.cli import main
from holdfast.client.dead_letters import ERROR, MESSAGE
from holdfast.client.source import SOURCE


@pytest.fixture
def flow(kafka: BrokerProcess) -> str:
    name = unique_name("lists").lower().replace("_", "-")
    with holdfast.connect(kafka.bootstrap) as client:
        client.flow(name).create(partitions=2)
        client.flow(name).hold("=customer-7", reason="disputed", actor="ana")
        client.flow(name).release("customer-8", actor="ben")
        for total in range(3):
            headers = {
                SOURCE: f"0:{total}",
                ERROR: "invalid",
                MESSAGE: f"The total {total} is no text.",
            }
            client.send(f"{name}.dlq", {"total": total}, key="customer-7", headers=headers).result()
    return name


def printed(capsys: pytest.CaptureFixture[str], kafka: BrokerProcess, *arguments: str) -> str:
    assert main([*arguments, "--bootstrap", kafka.bootstrap]) == 0
    return capsys.readouterr().out


def test_audit_filters_by_actor_and_exports_csv(
    kafka: BrokerProcess, flow: str, capsys: pytest.CaptureFixture[str]
) -> None:
    out = printed(capsys, kafka, "audit", flow, "--actor", "ana", "--since", "1h", "-o", "csv")
    [row] = csv.DictReader(io.StringIO(out))
    assert (row["command"], row["reason"], row["flow"]) == ("hold", "disputed", flow)
    assert row["key"] == "'=customer-7", "a spreadsheet must not run a key"


def test_audit_of_all_flows_has_this_flow(
    kafka: BrokerProcess, flow: str, capsys: pytest.CaptureFixture[str]
) -> None:
    out = json.loads(printed(capsys, kafka, "audit", "--since", "1h", "-n", "500", "-o", "json"))
    mine = [row["command"] for row in out["rows"] if row["flow"] == flow]
    assert mine == ["release", "hold"]


def test_dead_letters_are_listed_grouped_and_shown(
    kafka: BrokerProcess, flow: str, capsys: pytest.CaptureFixture[str]
) -> None:
    out = printed(
        capsys, kafka, "dlq", "ls", flow, "--path", "$.total", "--value", "1", "-o", "json"
    )
    [letter] = json.loads(out)["letters"]
    assert letter["message"] == "The total 1 is no text."
    [group] = json.loads(printed(capsys, kafka, "dlq", "groups", flow, "-o", "json"))
    assert (group["letters"], group["message"]) == (3, "The total … is no text.")
    place = f"{letter['partition']}:{letter['offset']}"
    shown = json.loads(printed(capsys, kafka, "dlq", "show", flow, place, "-o", "json"))
    assert json.loads(shown["value"]) == {"total": 1}


def test_wrong_filter_is_a_usage_error(
    kafka: BrokerProcess, flow: str, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["dlq", "ls", flow, "--path", "$.[", "--bootstrap", kafka.bootstrap]
    assert main(arguments) == 2
    assert "is not a JSON path" in capsys.readouterr().err
