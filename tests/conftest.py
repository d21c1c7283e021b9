"""Brokers, topics and groups for tests.

`kafka` is one broker of each kind for the whole run, shared by all tests: use names of your own
(`topic`). Tests that stop, kill or fill a broker take `fresh_kafka`, which nobody shares. `spark`
is one session for the whole run, too: a process can have but one.
"""

import gc
import os
import re
import signal
import uuid
from collections.abc import Generator, Iterator

import pytest
from hypothesis import HealthCheck, settings
from pyspark.sql import SparkSession
from tests.brokers import ApacheKafka, BrokerProcess, EmbeddedBroker, KafkaCluster

from holdfast.pipeline.spark.session import create_session

pytest_plugins = ["tests.parallel"]

# A shell starts background jobs with SIGINT ignored, and children inherit that: tests that press
# Ctrl-C would wait in vain.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Spark's JVMs live for a minute or two here. The second compiler would take 40 % of their CPU time
# (a file of backfill tests: 92 s with it, 54 s without), and its code would hardly run.
os.environ.setdefault("SPARK_SUBMIT_OPTS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")

# A test asserts an outcome, never a speed: beside load one example may take half a second.
settings.register_profile(
    "beside load", deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("beside load")

KINDS = {"apache": ApacheKafka, "embedded": EmbeddedBroker}


@pytest.fixture(scope="session")
def apache_kafka(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ApacheKafka]:
    with ApacheKafka(tmp_path_factory.mktemp("apache")) as broker:
        yield broker


@pytest.fixture(scope="session")
def embedded_broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedBroker]:
    with EmbeddedBroker(tmp_path_factory.mktemp("embedded")) as broker:
        yield broker


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KafkaCluster]:
    """Three brokers of Apache Kafka for one file, because they use a sixth of a core at rest. Tests
    that kill one start it again."""
    with KafkaCluster(tmp_path_factory.mktemp("cluster")) as started:
        yield started


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
    """A name for a consumer group that no other test uses."""
    return unique_name(f"group-{request.node.name}")


def unique_name(stem: str) -> str:
    plain = re.sub(r"[^a-zA-Z0-9-]+", "-", stem).strip("-")
    return f"{plain[:60]}-{uuid.uuid4().hex[:8]}"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Show the logs of the brokers that a failed test used."""
    report = yield
    if report.failed:
        for name, value in getattr(item, "funcargs", {}).items():
            if isinstance(value, BrokerProcess):
                end = "\n".join(value.log_text().splitlines()[-60:])
                report.sections.append((f"log of {name} ({value.kind})", end))
    return report
