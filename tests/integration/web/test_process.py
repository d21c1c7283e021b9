"""`holdfast web` as people run it."""

import re
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest
from tests.brokers import DIES_WITH_PARENT, BrokerProcess, EmbeddedBroker
from tests.clients import DEADLINE_S, wait_until
from tests.integration.web.instances import Instance, bearing

from holdfast.access.roles import Role
from holdfast.access.token_log import TokenLog

CHANGES = "/api/v1/changes"


class Web:
    """One `holdfast web`, and what it has said so far."""

    def __init__(self, folder: Path, kafka: str, *flags: str) -> None:
        self._log = folder / f"web-{len(list(folder.iterdir()))}.log"
        with self._log.open("wb") as log:
            self.process = subprocess.Popen(
                [*DIES_WITH_PARENT, sys.executable, "-m", "holdfast.cli", "web", "--kafka", kafka,
                 *flags],
                stdout=log, stderr=subprocess.STDOUT, cwd=folder,
            )  # fmt: skip

    def said(self) -> str:
        return self._log.read_text(errors="replace")

    def address(self) -> str:
        """Where it serves, once it does."""

        def found() -> "re.Match[str] | None":
            assert self.process.poll() is None, self.said()
            return re.search(r"^Dashboard at (\S+)$", self.said(), re.MULTILINE)

        match = wait_until(found, "an address")
        assert match is not None
        return match[1]

    def end(self) -> int:
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(DEADLINE_S)


Run = Callable[..., Web]


@pytest.fixture
def started() -> Iterator[list[Web]]:
    runs: list[Web] = []
    yield runs
    for web in runs:
        if web.process.poll() is None:
            web.process.kill()
            web.process.wait(DEADLINE_S)


@pytest.fixture
def run(started: list[Web], tmp_path: Path) -> Run:
    def run(broker: BrokerProcess | str, *flags: str) -> Web:
        kafka = broker if isinstance(broker, str) else broker.bootstrap
        web = Web(tmp_path, kafka, *flags)
        started.append(web)
        return web

    return run


def test_web_refuses_to_start_beyond_loopback_without_a_token(
    run: Run, embedded_broker: EmbeddedBroker
) -> None:
    web = run(embedded_broker, "--listen", "0.0.0.0:0")
    assert web.process.wait(DEADLINE_S) == 2
    assert "there is no token" in web.said()
    assert "holdfast token create NAME --role admin" in web.said()
    assert "Dashboard at" not in web.said()


def test_web_beyond_loopback_serves_requests_with_a_token(
    run: Run, guarded_broker: EmbeddedBroker, tokens: dict[Role, str]
) -> None:
    web = run(guarded_broker, "--listen", "0.0.0.0:0")
    port = web.address().rpartition(":")[2]
    local = f"http://127.0.0.1:{port}/metrics"
    wait_until(lambda: httpx.get(local).status_code == 401, "tokens to be known")
    assert httpx.get(local, headers=bearing(tokens[Role.VIEWER])).status_code == 200
    assert "unencrypted" in web.said()


def test_web_stops_with_open_streams_and_restarts_on_the_same_port(
    run: Run, embedded_broker: EmbeddedBroker
) -> None:
    web = run(embedded_broker, "--listen", "127.0.0.1:0")
    address = web.address()
    assert "Running open" in web.said()
    wait_until(lambda: httpx.get(f"{address}/readyz").is_success, "it to be ready")
    with httpx.stream("GET", f"{address}{CHANGES}", timeout=DEADLINE_S) as stream:
        assert stream.status_code == 200
        assert "holdfast_web_streams 1.0" in httpx.get(f"{address}/metrics").text
        web.process.send_signal(signal.SIGTERM)
        for _ in stream.iter_bytes():  # ends without an error: the answer is whole
            pass
    assert web.process.wait(DEADLINE_S) == 0
    assert "Traceback" not in web.said()
    assert "Cancel" not in web.said()
    again = run(embedded_broker, "--listen", address.removeprefix("http://"))
    assert again.address() == address
    assert again.end() == 0


def test_a_stream_ends_when_its_token_is_revoked(guarded: Instance, token_log: TokenLog) -> None:
    _, text = token_log.create("watcher", Role.VIEWER, created_by="tests")
    wait_until(lambda: guarded.status("/metrics", token=text) == 200, "the token to hold")
    with guarded.stream("GET", CHANGES, headers=bearing(text)) as stream:
        assert stream.status_code == 200
        token_log.revoke("watcher")
        for _ in stream.iter_bytes():
            pass


def test_no_secret_gets_into_the_log(
    run: Run, guarded_broker: EmbeddedBroker, tokens: dict[Role, str]
) -> None:
    web = run(guarded_broker, "--listen", "127.0.0.1:0")
    address, token = web.address(), tokens[Role.ADMIN]
    wait_until(lambda: httpx.get(f"{address}/readyz").is_success, "it to be ready")
    httpx.get(f"{address}/api/v1/flows?token={token}", headers=bearing(token))
    signed_in = httpx.post(f"{address}/login", data={"token": token})
    httpx.get(f"{address}/api/v1/flows", cookies=signed_in.cookies)
    assert web.end() == 0
    assert "GET /api/v1/flows 200" in web.said()
    assert "by the-admin from 127.0.0.1" in web.said()
    assert "hf_" not in web.said()


def test_port_in_use_is_an_error_that_names_it(run: Run, embedded_broker: EmbeddedBroker) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        web = run(embedded_broker, "--listen", f"127.0.0.1:{server.getsockname()[1]}")
        assert web.process.wait(DEADLINE_S) == 2
    assert "Cannot listen on" in web.said()
    assert "Traceback" not in web.said()


def test_start_without_a_broker_fails_or_waits_as_configured(run: Run, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    nobody = run(f"127.0.0.1:{port}", "--listen", "127.0.0.1:0")
    assert nobody.process.wait(DEADLINE_S) == 4
    assert "No broker answered" in nobody.said()
    patient = run(f"127.0.0.1:{port}", "--listen", "127.0.0.1:0", "--wait", "60")
    settings = {"listen": f"127.0.0.1:{port}"}
    with EmbeddedBroker(tmp_path / "late", settings):
        assert patient.address().startswith("http://127.0.0.1:")
        assert patient.end() == 0


def test_with_a_certificate_it_speaks_tls(
    run: Run, embedded_broker: EmbeddedBroker, tmp_path: Path
) -> None:
    cert, key = tmp_path / "cert.pem", tmp_path / "key.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1",
         "-subj", "/CN=localhost", "-keyout", str(key), "-out", str(cert)],
        check=True, capture_output=True, timeout=DEADLINE_S,
    )  # fmt: skip
    flags = ("--tls-cert", str(cert), "--tls-key", str(key))
    web = run(embedded_broker, "--listen", "127.0.0.1:0", *flags)
    answer = httpx.get(f"{web.address()}/healthz", verify=False)
    assert web.address().startswith("https://")
    assert answer.status_code == 200
    assert "strict-transport-security" in answer.headers
    assert web.end() == 0
    wrong = run(embedded_broker, "--listen", "127.0.0.1:0", "--tls-cert", str(key),
                "--tls-key", str(key))  # fmt: skip
    assert wrong.process.wait(DEADLINE_S) == 2
    assert "cannot be used" in wrong.said()


def test_web_is_not_ready_while_no_broker_answers(run: Run, tmp_path: Path) -> None:
    with EmbeddedBroker(tmp_path / "falling") as broker:
        web = run(broker, "--listen", "127.0.0.1:0")
        ready = f"{web.address()}/readyz"
        wait_until(lambda: httpx.get(ready).status_code == 200, "it to be ready")
        broker.kill()
        wait_until(lambda: httpx.get(ready).status_code == 503, "it to notice")
        assert "No broker answers" in httpx.get(ready).json()["reason"]
        assert httpx.get(f"{web.address()}/healthz").status_code == 200
        broker.start()
        wait_until(lambda: httpx.get(ready).status_code == 200, "it to be ready again")
        assert web.end() == 0
