"""Installs the wheel of `dist` with pip into an empty environment, and uses it as a new user would.

    python -m tools.try_wheel [PYTHON]   # `make wheel` builds it first; minutes, and 500 MB

Nothing of the clone is used. `holdfast up --demo` fetches the jars, and a key is held and released.
"""

import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tools.supply_chain.locked import ROOT

PATIENCE_S = 600.0


def main(python: str = sys.executable) -> int:
    (wheel,) = (ROOT / "dist").glob("*.whl")
    with tempfile.TemporaryDirectory(prefix="holdfast-") as name:
        folder = Path(name)
        for command in (python, "-m", "venv", "venv"), ("venv/bin/pip", "install", f"{wheel}[all]"):
            subprocess.run(command, cwd=folder, check=True)  # with pip's own settings and cache
        _run(folder, "venv/bin/holdfast", "--version")
        _try_demo(folder)
    return 0


def _try_demo(folder: Path) -> None:
    log = folder / "up.log"
    with log.open("wb") as output:
        demo = subprocess.Popen(
            ["venv/bin/holdfast", "up", "--demo"], cwd=folder, env=_environment(folder),
            stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT,
        )  # fmt: skip
    try:
        address = _wait_for(r"is up: broker at (\S+),", log, demo)
        to = ("--wait", "120", "-b", address)
        for verb in ("hold", "release"):
            _run(folder, "venv/bin/holdfast", verb, "orders", "customer-042", *to)
        _run(folder, "venv/bin/holdfast", "doctor", "-b", address)
    finally:
        demo.send_signal(signal.SIGTERM)
        code = demo.wait(PATIENCE_S)
    print(f"holdfast up has ended with {code}", flush=True)
    if code:
        raise SystemExit(log.read_text()[-3000:])


def _wait_for(pattern: str, log: Path, process: subprocess.Popen[bytes]) -> str:
    end = time.monotonic() + PATIENCE_S
    while (found := re.search(pattern, log.read_text())) is None:
        if process.poll() is not None or time.monotonic() > end:
            raise SystemExit(f"The demo came to nothing:\n{log.read_text()[-3000:]}")
        time.sleep(0.5)
    return found[1]


def _run(folder: Path, *command: str) -> None:
    print("$", *command, flush=True)
    subprocess.run(command, cwd=folder, env=_environment(folder), check=True)


def _environment(folder: Path) -> dict[str, str]:
    kept = {n: v for n, v in os.environ.items() if not n.startswith(("HOLDFAST", "PYTHON", "XDG"))}
    return {**kept, "HOME": str(folder)}


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
