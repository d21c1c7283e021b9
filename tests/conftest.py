"""Brokers for tests, and what every test wants of them.

`kafka` is one broker of each kind for the whole run, shared by all tests: use names of your own
(`topic`). Tests that stop, kill or fill a broker take `fresh_kafka`, which nobody shares. `spark`
is one session for the whole run, too: a process can have but one.
"""

import gc
import re
import uuid
from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession
from tests.brokers import ApacheKafka, BrokerProcess, EmbeddedBroker

from holdfast.pipeline.session import create_session

KINDS = {"apache": ApacheKafka, "embedded": EmbeddedBroker}


@pytest.fixture(scope="session")
def apache_kafka(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ApacheKafka]:
    with ApacheKafka(tmp_path_factory.mktemp("apache")) as broker:
        yield broker


@pytest.fixture(scope="session")
def embedded_broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedBroker]:
    with EmbeddedBroker(tmp_path_factory.mktemp("embedded")) as broker:
        yield broker


@pytest.fixture(scope="module", autouse=True)
def nothing_left_behind() -> Iterator[None]:
    """Tracebacks keep clients alive, each with threads and sockets: they go with their module, and
    not by hundreds at once when the garbage collector happens to come round."""
    yield
    gc.collect()


@pytest.fixture(scope="session", params=list(KINDS))
def kafka(request: pytest.FixtureRequest) -> BrokerProcess:
    """Each kind of broker in turn, shared by the whole run."""
    name = "apache_kafka" if request.param == "apache" else "embedded_broker"
    broker: BrokerProcess = request.getfixturevalue(name)
    assert broker.running, f"{broker.kind} has ended:\n{broker.log_text()[-4000:]}"
    return broker


@pytest.fixture(params=list(KINDS))
def fresh_kafka(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[BrokerProcess]:
    """Each kind of broker in turn, new, for this test alone."""
    with KINDS[request.param](tmp_path_factory.mktemp(f"fresh-{request.param}")) as broker:
        yield broker


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """Spark as the pipeline starts it, with Python workers on two cores."""
    session = create_session(tmp_path_factory.mktemp("spark"), master="local[2]")
    yield session
    session.stop()


@pytest.fixture
def topic(request: pytest.FixtureRequest) -> str:
    """A name that no other test uses. The topic is not created."""
    return unique_name(request.node.name)


@pytest.fixture
def group(request: pytest.FixtureRequest) -> str:
    """The same for a consumer group."""
    return unique_name(f"group-{request.node.name}")


def unique_name(stem: str) -> str:
    plain = re.sub(r"[^a-zA-Z0-9-]+", "-", stem).strip("-")
    return f"{plain[:60]}-{uuid.uuid4().hex[:8]}"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[None]:
    """Show the logs of the brokers that a failed test used."""
    report: pytest.TestReport = yield
    if report.failed:
        for name, value in getattr(item, "funcargs", {}).items():
            if isinstance(value, BrokerProcess):
                end = "\n".join(value.log_text().splitlines()[-60:])
                report.sections.append((f"log of {name} ({value.kind})", end))
    return report
