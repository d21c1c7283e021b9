"""The last report of quality, over HTTP and on its page. Without Spark."""

import httpx
from tests.brokers import EmbeddedBroker
from tests.clients import DEADLINE_S, wait_until
from tests.conftest import unique_name
from tests.integration.api.served import Api

from holdfast.client.client import Client
from holdfast.client.connection import Connection
from holdfast.client.runs import store_report
from holdfast.client.settings import ClientSettings
from holdfast.flows.quality import CheckResult, QualityReport


def test_the_last_report_is_shown_once_there_is_one(
    api: Api, api_broker: EmbeddedBroker, kafka_client: Client
) -> None:
    flow = unique_name("checked").lower()
    kafka_client.flow(flow).create(partitions=1, checks=["required id", "fresh 1h"])
    wait_until(lambda: api.get(f"flows/{flow}").status_code == 200, "the flow seen")
    wait_until(lambda: api.get(f"flows/{flow}/quality").status_code == 404, "no report yet")
    assert "holdfast quality" in api.get(f"flows/{flow}/quality").json()["detail"]
    assert "Not checked yet" in _page(api)
    results = (
        CheckResult("required id", False, 5, 2, "2 events lack it", ("0:7", "1:9")),
        CheckResult("fresh 1h", True, 5, 0, "the newest is 3 s old"),
    )
    settings = ClientSettings(bootstrap=api_broker.bootstrap)
    store_report(Connection(settings), QualityReport(flow, 1_767_225_600_000, 5, results))
    wait_until(lambda: api.get(f"flows/{flow}/quality").status_code == 200, "the report seen")
    found = api.found(f"flows/{flow}/quality")
    assert (found["flow"], found["passed"], found["events"]) == (flow, False, 5)
    assert found["results"][0]["says"] == "2 events lack it"
    assert found["results"][0]["examples"] == ["0:7", "1:9"]
    shown = _page(api)
    assert "2 events lack it" in shown
    assert "FAILED" in shown
    assert "<code>0:7</code>, <code>1:9</code>" in shown


def _page(api: Api) -> str:
    answer = httpx.get(f"{api.address}/quality", timeout=DEADLINE_S)
    assert answer.status_code == 200, answer.text
    return answer.text
