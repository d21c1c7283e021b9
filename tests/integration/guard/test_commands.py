"""A guard from the command line, with a handler behind a URL."""

import json
import subprocess
import sys
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import pytest
from tests.brokers import DIES_WITH_PARENT, BrokerProcess
from tests.conftest import unique_name
from tests.integration.guard.stage import until

import holdfast

HOLDFAST = [sys.executable, "-m", "holdfast.cli"]


class Partner(BaseHTTPRequestHandler):
    """Takes every event but those that say `bad`."""

    taken: list[tuple[str | None, str | None, bytes]]

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        bad = b"bad" in body
        if not bad:
            self.taken.append(
                (self.headers["X-Holdfast-Event-Id"], self.headers["X-Holdfast-Key"], body)
            )
        self.send_response(500 if bad else 204)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        return


@pytest.fixture
def partner() -> Iterator[str]:
    Partner.taken = []
    server = ThreadingHTTPServer(("127.0.0.1", 0), Partner)
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/charge"
    server.shutdown()


def command(kafka: BrokerProcess, *arguments: str) -> str:
    result = subprocess.run(
        [*HOLDFAST, *arguments, "-b", kafka.bootstrap], capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stderr
    return result.stdout


@pytest.mark.parametrize("kafka", ["embedded"], indirect=True)
def test_guard_posts_events_and_people_see_and_settle_what_fails(
    kafka: BrokerProcess, partner: str
) -> None:
    name = unique_name("post").lower()
    with holdfast.connect(kafka.bootstrap) as client:
        client.topics.create(f"{name}-source", partitions=1)
        for value in ("good-1", "bad", "good-2"):
            client.send(f"{name}-source", value, key="customer-7")
    command(kafka, "guard", "create", name, "--topic", f"{name}-source", "--attempts", "2",
            "--backoff", "0.1s..0.2s", "--then", "hold")  # fmt: skip
    assert name in command(kafka, "guard", "ls")
    worker = subprocess.Popen(
        [*DIES_WITH_PARENT, *HOLDFAST, "guard", "run", name, "--post", partner,
         "-b", kafka.bootstrap],
        stderr=subprocess.PIPE,
    )  # fmt: skip
    try:
        until(lambda: _held(kafka, name).get("attempts") == 2)
        row = _held(kafka, name)
        assert row["events"] == 2
        assert row["next_try"] is None
        assert "answered 500" in row["error"]
        assert [body for *_, body in Partner.taken] == [b"good-1"]
        command(kafka, "dead-letter", name, "customer-7", "--first", "--yes", "--wait", "30")
        until(lambda: len(Partner.taken) == 2)
        assert Partner.taken[1] == (f"{name}-source:0:2", "customer-7", b"good-2")
        until(lambda: not _held(kafka, name))
    finally:
        worker.terminate()
        assert worker.wait(60) == 0


def _held(kafka: BrokerProcess, name: str) -> dict[str, Any]:
    rows: list[dict[str, Any]] = json.loads(command(kafka, "held", name, "-o", "json"))
    return rows[0] if rows else {}


@pytest.mark.parametrize("kafka", ["embedded"], indirect=True)
def test_first_event_of_a_key_is_known_to_guards_alone(kafka: BrokerProcess) -> None:
    name = unique_name("flow").lower()
    with holdfast.connect(kafka.bootstrap) as client:
        client.flow(name).create(partitions=1)
        with pytest.raises(holdfast.HoldfastError, match="is not a guard"):
            client.flow(name).dead_letter("customer-7", first=True)
