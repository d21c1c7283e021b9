"""Kill -9 under load, for longer than the tests do: `python -m tests.chaos broker --rounds 300`."""

import argparse
import secrets
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tests.chaos.broker.rounds import run


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.chaos broker", description=__doc__)
    parser.add_argument("--rounds", type=int, default=300)
    parser.add_argument("--seed", type=int, default=secrets.randbelow(1 << 32))
    parser.add_argument("--keep", type=Path, help="keep the data and the broker's log here")
    arguments = parser.parse_args(argv)
    print(f"{arguments.rounds} rounds, seed {arguments.seed}", flush=True)
    with tempfile.TemporaryDirectory(prefix="holdfast-chaos-") as scratch:
        faults = run(arguments.rounds, arguments.seed, arguments.keep or Path(scratch))
    for fault in faults:
        print(f"FAULT: {fault}")
    print(f"seed {arguments.seed}: {'NOT as promised' if faults else 'all as promised'}")
    return 1 if faults else 0
