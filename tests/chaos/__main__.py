"""`python -m tests.chaos --rounds 300 --seed 7`: kill -9 under load, for longer than tests do."""

import argparse
import secrets
import sys
import tempfile
from pathlib import Path

from tests.chaos.rounds import run


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.chaos", description=__doc__)
    parser.add_argument("--rounds", type=int, default=300)
    parser.add_argument("--seed", type=int, default=secrets.randbelow(1 << 32))
    parser.add_argument("--keep", type=Path, help="keep the data and the broker's log here")
    arguments = parser.parse_args()
    print(f"{arguments.rounds} rounds, seed {arguments.seed}", flush=True)
    with tempfile.TemporaryDirectory(prefix="holdfast-chaos-") as scratch:
        faults = run(arguments.rounds, arguments.seed, arguments.keep or Path(scratch))
    for fault in faults:
        print(f"FAULT: {fault}")
    print(f"seed {arguments.seed}: {'NOT as promised' if faults else 'all as promised'}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
