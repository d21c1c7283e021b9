"""The code and the commands of the guide "When a handler fails" work as they stand there."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest
from tests.brokers import DIES_WITH_PARENT, EmbeddedBroker, free_ports
from tests.clients import run_in_shell
from tests.conftest import unique_name
from tests.integration.guard.stage import until

import holdfast

GUIDE = Path(__file__).parents[3] / "docs/guides/guard.md"
PROVIDER = """
from pathlib import Path
class provider:
    charged = []
    def charge(value, idempotency_key):
        if value["n"] == "bad" and Path("down").exists():
            raise ConnectionError("the provider does not answer")
        with Path("charged").open("a") as file:
            file.write(f"{value['n']}\\n")
"""


class Guide:
    """The blocks of the guide, with names and addresses of this test."""

    def __init__(self, broker: EmbeddedBroker) -> None:
        self.stem = unique_name("guide").lower()
        self._broker = broker
        text = GUIDE.read_text()
        self._blocks = re.findall(r"^```(\w*)\n(.*?)^```", text, re.MULTILINE | re.DOTALL)

    def adapt(self, text: str) -> str:
        text = text.replace("localhost:9092", self._broker.bootstrap)
        return re.sub(
            r"(?<![-.\w])(orders|payments|billing)(?=[\s\".]|-v1|$)", rf"{self.stem}-\1", text
        )

    def python(self, words: str) -> str:
        (found,) = [text for kind, text in self._blocks if kind == "python" and words in text]
        return self.adapt(found)

    def commands(self) -> list[str]:
        lines = [line for kind, text in self._blocks if not kind for line in text.splitlines()]
        found = [self.adapt(line.partition("#")[0].strip()) for line in lines]
        return [line.replace(f"shop.{self.stem}-billing:", "shop.billing:") for line in found]


class Partner(BaseHTTPRequestHandler):
    taken: list[str | None]

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.taken.append(self.headers["X-Holdfast-Key"])
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        return


@contextmanager
def partner() -> Iterator[int]:
    Partner.taken = []
    server = ThreadingHTTPServer(("127.0.0.1", 0), Partner)
    Thread(target=server.serve_forever, daemon=True).start()
    yield server.server_port
    server.shutdown()


@contextmanager
def worker(broker: EmbeddedBroker, command: str) -> Iterator[None]:
    """A command of the guide that runs until it is ended."""
    words = command.split()[1:]
    address = f"127.0.0.1:{free_ports(1)[0]}"
    process = subprocess.Popen(
        [*DIES_WITH_PARENT, sys.executable, "-m", "holdfast.cli", *words, "--http", address],
        env={**os.environ, "HOLDFAST_CLIENT_BOOTSTRAP": broker.bootstrap},
    )
    yield
    process.terminate()
    assert process.wait(60) == 0


@pytest.fixture
def guide(
    embedded_broker: EmbeddedBroker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Guide:
    monkeypatch.chdir(tmp_path)
    made = Guide(embedded_broker)
    with holdfast.connect(embedded_broker.bootstrap) as client:
        client.flow(f"{made.stem}-orders").create(partitions=2)
        client.topics.create(f"{made.stem}-payments.events", partitions=2)
    (tmp_path / "shop").mkdir()
    return made


def test_commands_of_the_guide_work(
    embedded_broker: EmbeddedBroker, guide: Guide, tmp_path: Path
) -> None:
    Path("down").touch()
    code = guide.python("charge(event):").replace('"1s..10m"', '"0.1s..0.2s"')
    (tmp_path / "shop/billing.py").write_text(PROVIDER + code)
    create, *others = guide.commands()
    run, post = [line for line in others if " guard run " in line]
    verbs = [line for line in others if " guard run " not in line]
    assert len(verbs) >= 8
    assert run_in_shell(embedded_broker, create).returncode == 0
    topic, name = f"{guide.stem}-orders.processed", f"{guide.stem}-billing"
    with holdfast.connect(embedded_broker.bootstrap) as client, worker(embedded_broker, run):
        for n in ("bad", "bad", 1):
            client.send(topic, {"n": n}, key="customer-7")
        billing = client.flow(name)
        until(lambda: [s.entries[0][1].attempts for s in billing.held()] == [5])
        for line in verbs:
            line = line.replace("dead-letter", "dead-letter --yes")
            ran = run_in_shell(embedded_broker, line)
            assert ran.returncode == 0, f"{line}: {ran.stderr}"
            assert ran.stdout or ran.stderr, line
        until(lambda: [status.key for status in billing.held()] == [b"customer-8"])
    with holdfast.connect(embedded_broker.bootstrap) as client:
        client.send(topic, {"n": 2}, key="customer-9")
    with partner() as port, worker(embedded_broker, post.replace("8080", str(port))):
        until(lambda: Partner.taken == ["customer-9"])


def test_guard_that_replaces_a_worker_begins_where_that_one_stopped(
    embedded_broker: EmbeddedBroker, guide: Guide, monkeypatch: pytest.MonkeyPatch
) -> None:
    topic, group = f"{guide.stem}-orders.processed", f"{guide.stem}-billing-v1"
    with holdfast.connect(embedded_broker.bootstrap) as client:
        for n in range(10):
            client.send(topic, {"n": n}, key=f"customer-{n}")
        client._producer.flush()
        with client.consumer(topic, group=group) as old:
            for _ in zip(range(6), old, strict=False):
                pass
            old.commit()
        taken = sum(lag.committed or 0 for lag in client.groups.describe(group).lag)
        assert 0 < taken < 10
        code = guide.python("charge(event):").partition("@guard.handler")[0]
        space: dict[str, object] = {"__name__": "shop"}
        exec(PROVIDER + code + guide.python("charge_once"), space)
        guard = space["guard"]
        assert isinstance(guard, holdfast.Guard)
        thread = Thread(target=guard.run)
        thread.start()
        charged = Path("charged")
        until(lambda: charged.exists() and len(charged.read_text().split()) >= 10 - taken)
        guard.stop()
        thread.join(60)
        lag = client.groups.describe(f"holdfast.{guide.stem}-billing").total_lag
        assert (len(charged.read_text().split()), lag) == (10 - taken, 0)
