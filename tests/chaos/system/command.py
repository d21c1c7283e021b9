"""The whole system under load while its parts are killed, stopped and starved.

`python -m tests.chaos --minutes 60 --seed 7`: three flows with producers, operators who hold and
release, readers, and a worker downstream, on a broker and a pipeline that are killed, stopped,
replaced, run out of disk and have their clocks set. Then all is healed and released, and a checker
compares the histories of all clients with the logs; `holdfast verify` must agree.
"""

import argparse
import json
import secrets
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tests.chaos.system.flows import ChaosFlow
from tests.chaos.system.machine import Machine
from tests.chaos.system.plan import Kind
from tests.chaos.system.trial import Settings, run

VERIFIED_WITHIN_S = 900.0


def main(argv: Sequence[str] | None = None) -> int:
    arguments = _parser().parse_args(argv)
    folder = arguments.keep or Path(tempfile.mkdtemp(prefix="holdfast-chaos-"))
    folder.mkdir(parents=True, exist_ok=True)
    settings = Settings(
        seed=arguments.seed,
        seconds=60 * arguments.minutes,
        faults_per_minute=arguments.faults_per_minute,
        kinds=[Kind(name) for name in arguments.only] if arguments.only else tuple(Kind),
    )
    print(f"seed {settings.seed}, {arguments.minutes:g} minutes, in {folder}", flush=True)
    try:
        report = run(settings, folder, verify, lambda line: print(line, flush=True))
    except TimeoutError as error:
        print(f"seed {settings.seed}: NOT as promised: {error}; history and logs are in {folder}")
        return 1
    for line in [*report.findings.lines(), *filter(None, report.verify.values())]:
        print(line)
    print("\n".join(report.table()))
    print(f"seed {settings.seed}: {'all as promised' if report.as_promised else 'NOT as promised'}")
    if not report.as_promised:
        print(f"the history, the logs, the data and the lake are in {folder}")
    elif not arguments.keep:
        shutil.rmtree(folder)
    print(json.dumps(report.document()), flush=True)
    return 0 if report.as_promised else 1


def verify(machine: Machine, flow: ChaosFlow) -> str:
    """`holdfast verify` as a process. -> what it says, unless all is clean"""
    ended = subprocess.run(
        [
            sys.executable, "-m", "holdfast.cli", "verify", flow.name, "--full",
            "--bootstrap", machine.broker.bootstrap, "--lake", str(machine.folder / "lake"),
            "--spark-master", "local[2]",
        ],
        capture_output=True, text=True, check=False, timeout=VERIFIED_WITHIN_S,
    )  # fmt: skip
    return "" if ended.returncode == 0 else f"{ended.stdout}\n{ended.stderr[-2000:]}"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m tests.chaos",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--minutes", type=float, default=10.0, help="of faults (10)")
    parser.add_argument("--seed", type=int, default=secrets.randbelow(1 << 32))
    parser.add_argument("--faults-per-minute", type=float, default=10.0)
    parser.add_argument("--keep", type=Path, help="work in this folder, which must be empty")
    parser.add_argument(
        "--only", action="append", metavar="KIND", choices=[kind.value for kind in Kind],
        help=f"only these kinds of faults: {', '.join(Kind)}",
    )  # fmt: skip
    return parser
