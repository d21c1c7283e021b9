"""Fuzzes for longer than the tests do: `python -m tests.fuzz [TARGET...] --minutes 10 [--seed N]`.

Targets: `broker` (frames of its protocol), `access` (logins and access control of the broker),
`control` (records on the control log), `api` (requests to the API and the pages), `histories`
(random histories of the broker's log and of the gate, against their models). All of them unless
some are named; they share the minutes.
"""

import argparse
import itertools
import random
import tempfile
import time
from collections import Counter
from pathlib import Path

from tests.brokers import EmbeddedBroker
from tests.fuzz.access import AccessAttack, SecuredTarget
from tests.fuzz.api import ApiAttack
from tests.fuzz.attack import Attack
from tests.fuzz.control import ControlAttack
from tests.integration.api.served import serving
from tests.unit.broker.log.history import run_history as log_history
from tests.unit.broker.log.history import world_of_histories
from tests.unit.gate.history import run_history as gate_history


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=", ".join(TARGETS))
    parser.add_argument("--minutes", type=float, default=5.0, help="of all targets together")
    parser.add_argument("--seed", type=int, help="repeat a run: the same seed sends the same")
    options = parser.parse_args()
    targets = options.targets or list(TARGETS)
    if unknown := set(targets) - set(TARGETS):
        parser.error(f"there is no target {', '.join(sorted(unknown))}")
    seed = random.SystemRandom().getrandbits(32) if options.seed is None else options.seed
    print(f"Seed {seed}", flush=True)
    for target in targets:
        started = time.monotonic()
        rounds = TARGETS[target](seed, options.minutes * 60 / len(targets))
        for name, count in sorted(rounds.items()):
            print(f"{count:8} {name}")
        print(
            f"{target}: {rounds.total()} in {time.monotonic() - started:.0f} s: it held", flush=True
        )


def fuzz_broker(seed: int, seconds: float) -> Counter[str]:
    with tempfile.TemporaryDirectory(prefix="holdfast-fuzz-") as folder:
        with EmbeddedBroker(Path(folder)) as broker:
            attack = Attack(broker, seed)
            attack.garbage(seconds / 3)
            attack.requests(seconds * 2 / 3)
            attack.bombs(rounds=max(10, int(seconds)))
            attack.finish()
    return attack.rounds


def fuzz_access(seed: int, seconds: float) -> Counter[str]:
    with tempfile.TemporaryDirectory(prefix="holdfast-fuzz-") as folder:
        with SecuredTarget(Path(folder)) as broker:
            attack = AccessAttack(broker, seed)
            attack.run(seconds)
    return attack.rounds


def fuzz_control(seed: int, seconds: float) -> Counter[str]:
    attack = ControlAttack(seed)
    attack.run(seconds)
    return attack.rounds


def fuzz_api(seed: int, seconds: float) -> Counter[str]:
    with tempfile.TemporaryDirectory(prefix="holdfast-fuzz-") as folder:
        with EmbeddedBroker(Path(folder)) as broker, serving(broker) as api:
            with ApiAttack(api, seed) as attack:
                attack.run(seconds)
                attack.check()
    return attack.rounds


def run_histories(seed: int, seconds: float) -> Counter[str]:
    histories: Counter[str] = Counter()
    deadline = time.monotonic() + seconds
    with world_of_histories() as root:
        for each in itertools.count(seed):
            log_history(each, root)
            gate_history(each)
            histories.update(["history of the log", "history of the gate"])
            if time.monotonic() > deadline:
                break
    return histories


TARGETS = {
    "broker": fuzz_broker,
    "access": fuzz_access,
    "control": fuzz_control,
    "api": fuzz_api,
    "histories": run_histories,
}


if __name__ == "__main__":
    main()
