"""The broker as a process: addresses, the lock, the end, and what it tells of itself."""

import re
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka import KafkaException
from kafka.protocol.metadata import ApiVersionsRequest, MetadataRequest
from tests.brokers import BrokerFailedError, EmbeddedBroker, free_ports
from tests.clients import DEADLINE_S, admin, create_topic, producer, read, send, values
from tests.wire import Wire, fetch_request


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[EmbeddedBroker]:
    with EmbeddedBroker(tmp_path) as broker:
        yield broker


def test_a_second_broker_on_one_data_directory_is_refused(
    broker: EmbeddedBroker, tmp_path: Path
) -> None:
    send(producer(broker), "topic", [b"v"])
    second = EmbeddedBroker(tmp_path / "second", {"data_dir": broker.data_dir})
    with pytest.raises(BrokerFailedError, match="in use by another broker") as refused:
        second.start()
    assert str(broker.pid) in str(refused.value)
    assert second.wait() == 1
    assert "Traceback" not in second.log_text()
    assert values(read(broker, "topic")) == [b"v"]


def test_the_directory_of_a_killed_broker_can_be_used(broker: EmbeddedBroker) -> None:
    broker.kill()
    broker.start()
    send(producer(broker), "topic", [b"v"])


def test_sigterm_ends_waiting_fetches_and_exits_0(broker: EmbeddedBroker) -> None:
    create_topic(broker, "topic")
    with Wire(broker) as waiting, Wire(broker) as idle:
        waiting.send(fetch_request("topic", 0, max_wait_ms=60_000))
        assert idle.ask(ApiVersionsRequest(version=0)).error_code == 0
        assert broker.stop() == 0
        assert idle.closed_by_peer()
    assert "Stopped cleanly" in broker.log_text()


def test_clean_start_logs_no_recovery(broker: EmbeddedBroker) -> None:
    send(producer(broker), "topic", [b"v"])
    broker.stop()
    before = broker.log_text()
    broker.start()
    assert values(read(broker, "topic")) == [b"v"]
    assert not re.search("(?i)recover|rebuil|torn|damage", broker.log_text().removeprefix(before))


@pytest.mark.parametrize("setting", ["listen", "http"])
def test_broker_listens_beyond_loopback_only_if_configured(tmp_path: Path, setting: str) -> None:
    open_to_all = {"listen": "127.0.0.1:0", setting: f"0.0.0.0:{free_ports(1)[0]}"}
    refused = EmbeddedBroker(tmp_path / "refused", open_to_all)
    with pytest.raises(BrokerFailedError, match="not a loopback address"):
        refused.start()
    assert refused.wait() == 2
    with EmbeddedBroker(tmp_path / "taken", {**open_to_all, "insecure_listen": True}) as broker:
        send(producer(broker), "topic", [b"v"])


def test_a_port_in_use_is_refused_with_the_reason(broker: EmbeddedBroker, tmp_path: Path) -> None:
    second = EmbeddedBroker(tmp_path / "second", {"listen": broker.bootstrap})
    with pytest.raises(BrokerFailedError, match="Cannot listen on"):
        second.start()
    assert second.wait() == 2


def test_clients_get_the_advertised_address(tmp_path: Path) -> None:
    settings = {"advertised": "broker.example:19092"}
    with EmbeddedBroker(tmp_path, settings) as broker, Wire(broker) as wire:
        (node,) = wire.ask(MetadataRequest(version=7, topics=[])).brokers
        assert (node.host, node.port) == ("broker.example", 19092)


def test_topics_are_made_on_demand_only_where_that_is_set(tmp_path: Path) -> None:
    with EmbeddedBroker(tmp_path / "off", {"auto_create_topics": False}) as broker:
        with pytest.raises(KafkaException):
            send(producer(broker, {"message.timeout.ms": 2_000}), "topic", [b"v"])
        assert "topic" not in admin(broker).list_topics(timeout=DEADLINE_S).topics
    with EmbeddedBroker(tmp_path / "on", {"default_partitions": 4}) as broker:
        send(producer(broker), "topic", [b"v"])
        found = admin(broker).list_topics(timeout=DEADLINE_S).topics["topic"]
        assert len(found.partitions) == 4


def test_metrics_and_health_are_served(tmp_path: Path) -> None:
    (port,) = free_ports(1)
    with EmbeddedBroker(tmp_path, {"http": f"127.0.0.1:{port}"}) as broker:
        client = producer(broker)
        send(client, "topic", [b"v"] * 3)
        assert get(port, "/healthz") == "ok\n"
        text = get(port, "/metrics")
        assert metric(text, 'holdfast_broker_requests_total{api="produce"}') >= 1
        assert metric(text, "holdfast_broker_appended_batches_total") >= 1
        assert metric(text, "holdfast_broker_partitions") >= 1
        assert metric(text, "holdfast_broker_connections") >= 1
        with Wire(broker) as bad:
            bad.send_bytes(b"\xff" * 8)
            assert bad.closed_by_peer()
        assert metric(get(port, "/metrics"), "holdfast_broker_bad_frames_total") == 1
        with pytest.raises(urllib.error.HTTPError, match="404"):
            get(port, "/other")


def get(port: int, path: str) -> str:
    with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=DEADLINE_S) as reply:
        return str(reply.read().decode())


def metric(text: str, name: str) -> float:
    line = next(line for line in text.splitlines() if line.startswith(f"{name} "))
    return float(line.split()[-1])
