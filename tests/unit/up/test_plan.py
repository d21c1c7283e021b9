"""Which children `holdfast up` has, and where they listen."""

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.brokers import free_ports

from holdfast.errors import ConfigError
from holdfast.up import plan as plans
from holdfast.up import ports
from holdfast.up.plan import make_plan
from holdfast.up.ports import choose_port
from holdfast.up.settings import UpSettings


@pytest.fixture
def taken() -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


def test_requested_port_that_is_in_use_is_an_error_that_names_it(taken: int) -> None:
    with pytest.raises(ConfigError, match=rf"Port {taken} is in use.*--broker-port"):
        choose_port(taken, 9092, "--broker-port")


def test_next_free_port_is_chosen_if_the_usual_one_is_in_use(taken: int) -> None:
    chosen = choose_port(None, taken, "--broker-port")
    assert taken < chosen < taken + 100
    socket.create_server(("127.0.0.1", chosen)).close()


def test_no_free_port_near_the_usual_one_is_an_error(
    monkeypatch: pytest.MonkeyPatch, taken: int
) -> None:
    monkeypatch.setattr(ports, "_CANDIDATES", 1)
    with pytest.raises(ConfigError, match=f"{taken} to {taken} are in use.*--broker-port"):
        choose_port(None, taken, "--broker-port")


def test_the_usual_port_is_used_if_it_is_free() -> None:
    (usual,) = free_ports(1)
    assert choose_port(None, usual, "--broker-port") == usual


@pytest.mark.parametrize("asked", [0, -1, 65536])
def test_number_outside_the_range_of_ports_is_refused(asked: int) -> None:
    with pytest.raises(ConfigError, match="not a port"):
        choose_port(asked, 9092, "--broker-port")


def commands(settings: UpSettings, config: Path | None = None) -> dict[str, str]:
    return {role.name: " ".join(role.command) for role in make_plan(settings, config).roles}


def test_everything_is_under_one_folder_and_the_broker_starts_first(
    monkeypatch: pytest.MonkeyPatch, taken: int
) -> None:
    monkeypatch.setattr(plans, "BROKER_PORT", taken)
    made = make_plan(UpSettings(data_dir=Path("d"), demo=True))
    assert [role.name for role in made.roles] == ["broker", "pipeline", "web", "demo", "guard"]
    broker, pipeline, web, demo, guard = (" ".join(role.command) for role in made.roles)
    assert f"--listen {made.kafka} --data-dir d/broker" in broker
    assert f"--kafka {made.kafka}" in pipeline
    assert "--data-dir d/pipeline --lake d/lake" in pipeline
    assert f"--kafka {made.kafka} --listen {(made.dashboard or '').removeprefix('http://')}" in web
    assert demo.endswith(made.kafka)
    assert guard.endswith(made.kafka)
    assert not made.kafka.endswith(f":{taken}")


def test_existing_kafka_replaces_the_embedded_broker() -> None:
    found = commands(UpSettings(kafka="kafka-1,kafka-2:9093", spark_master="spark://m:7077"))
    assert list(found) == ["pipeline", "web"]
    assert "--kafka kafka-1:9092,kafka-2:9093" in found["web"]
    assert "--kafka kafka-1:9092,kafka-2:9093" in found["pipeline"]
    assert "--spark-master spark://m:7077" in found["pipeline"]


def test_children_read_the_same_settings_file() -> None:
    found = commands(UpSettings(lake="s3://bucket/lake"), Path("my.toml"))
    assert all("--config my.toml" in command for command in found.values())
    assert "--lake s3://bucket/lake" in found["pipeline"]


def test_the_dashboard_takes_another_port_if_its_own_is_taken_unless_asked_by_number(
    monkeypatch: pytest.MonkeyPatch, taken: int
) -> None:
    monkeypatch.setattr(plans, "WEB_PORT", taken)
    made = make_plan(UpSettings())
    assert made.dashboard is not None
    assert not made.dashboard.endswith(f":{taken}")
    with pytest.raises(ConfigError, match=rf"Port {taken} is in use.*--web-port"):
        make_plan(UpSettings(web_port=taken))


def test_no_dashboard_runs_without_web() -> None:
    made = make_plan(UpSettings(web=False))
    assert "web" not in [role.name for role in made.roles]
    assert made.dashboard is None
