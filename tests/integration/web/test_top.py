"""`holdfast top` over a broker, without a web process."""

import json
import os
import pty
import subprocess
import sys

from tests.brokers import EmbeddedBroker
from tests.clients import DEADLINE_S, wait_until

from holdfast.client.client import connect


def command(broker: EmbeddedBroker, *flags: str) -> list[str]:
    return [sys.executable, "-m", "holdfast.cli", "top", "--bootstrap", broker.bootstrap, *flags]


def test_figures_for_scripts(guarded_broker: EmbeddedBroker) -> None:
    with connect(guarded_broker.bootstrap) as client:
        client.flow("watched").create(partitions=2)
        client.send("watched.events", b"1", key="k").result()
    done = subprocess.run(
        command(guarded_broker, "-o", "json"), capture_output=True, text=True, timeout=DEADLINE_S,
        check=True,
    )  # fmt: skip
    (found,) = [f for f in json.loads(done.stdout)["flows"] if f["flow"] == "watched"]
    assert found["lag"] == 1
    assert found["held_keys"] == 0
    unknown = subprocess.run(
        command(guarded_broker, "--once", "--flow", "nothing"), capture_output=True, text=True,
        timeout=DEADLINE_S, check=False,
    )  # fmt: skip
    assert (unknown.returncode, "no flow 'nothing'" in unknown.stderr) == (3, True)


def test_top_draws_until_q_and_restores_the_terminal(guarded_broker: EmbeddedBroker) -> None:
    outer, inner = pty.openpty()
    process = subprocess.Popen(
        command(guarded_broker), stdin=inner, stdout=inner, stderr=inner,
        env={**os.environ, "TERM": "xterm", "COLUMNS": "100", "LINES": "30"},
    )  # fmt: skip
    os.close(inner)
    os.set_blocking(outer, False)
    seen = b""

    def shows(what: bytes) -> bool:
        nonlocal seen
        try:
            seen += os.read(outer, 65536)
        except (BlockingIOError, OSError):
            pass
        return what in seen

    try:
        wait_until(lambda: shows(b"q quit"), "a screen")
        os.write(outer, b"s")
        os.write(outer, b"q")
        wait_until(lambda: shows(b"\x1b[?1049l") and process.poll() is not None, "its end")
        assert process.returncode == 0
    finally:
        process.kill()
        process.wait(DEADLINE_S)
        os.close(outer)
