"""Fuzzes the embedded broker: `python -m tests.fuzz --minutes 10 [--seed N]`."""

import argparse
import random
import tempfile
import time
from pathlib import Path

from tests.brokers import EmbeddedBroker
from tests.fuzz.attack import Attack


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=5.0)
    parser.add_argument("--seed", type=int, help="repeat a run: the same seed sends the same bytes")
    options = parser.parse_args()
    seed = random.SystemRandom().getrandbits(32) if options.seed is None else options.seed
    print(f"Seed {seed}", flush=True)
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="holdfast-fuzz-") as folder:
        with EmbeddedBroker(Path(folder)) as broker:
            attack = Attack(broker, seed)
            attack.garbage(options.minutes * 60 / 3)
            attack.requests(options.minutes * 60 * 2 / 3)
            attack.finish()
    for name, count in sorted(attack.rounds.items()):
        print(f"{count:8} {name}")
    rounds = sum(attack.rounds.values())
    print(f"{rounds} rounds in {time.monotonic() - started:.0f} s: the broker held")


if __name__ == "__main__":
    main()
