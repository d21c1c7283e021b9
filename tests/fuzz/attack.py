"""Rounds against one broker, and what must hold after each few of them."""

import hashlib
import random
import time
from collections import Counter
from pathlib import Path

import psutil
from tests.bombs import Innocent, explode, metadata
from tests.brokers import EmbeddedBroker
from tests.fuzz.requests import Requests
from tests.fuzz.rounds import BOMBED, BOMBS, REACTION_S, REFUSED, REQUESTS, Round
from tests.fuzz.witness import Witness, connect

ROUNDS_BETWEEN_CHECKS = 100
WARM_UP_CHECKS = 3
# Garbage may cost the memory of the largest frames under way, and nothing that stays. Requests may
# create topics, groups and transactions, all of which are few here.
GROWTH_BY_GARBAGE = 48 * 1024 * 1024
GROWTH_BY_REQUESTS = 256 * 1024 * 1024
MOST_CONNECTIONS = 100
INNOCENT = "innocent"
SLOWEST_S = 4.0
"""Of the answers to a client that sends what it should, on a busy machine."""
SETTLED_AFTER_S = 1.5
"""Three rounds of the housekeeping that tests ask for."""
SETTLE_DEADLINE_S = 30
"""One is open at a time; a few more may wait for an answer that nobody will read."""


class BrokerBroken(AssertionError):
    """The broker broke a promise. The message names the seed and the round that led there."""


class Attack:
    """Fuzzes a running broker. The same seed sends the same bytes."""

    def __init__(self, broker: EmbeddedBroker, seed: int) -> None:
        self._broker = broker
        self._seed = seed
        self._requests = Requests()
        self._process = psutil.Process(broker.pid)
        self._number = 0
        self.rounds: Counter[str] = Counter()
        self._witness = Witness(broker.port)
        self._witness.write()
        self._witness.look()

    def _settled(self) -> dict[Path, str]:
        """The files once housekeeping has written down what it has to after a start."""
        end = time.monotonic() + SETTLE_DEADLINE_S
        before = contents(self._broker.data_dir)
        while True:
            time.sleep(SETTLED_AFTER_S)
            now = contents(self._broker.data_dir)
            if now == before:
                return now
            if time.monotonic() > end:
                raise BrokerBroken(f"an idle broker goes on writing ({self._place()})")
            before = now

    def garbage(self, seconds: float) -> None:
        """Nothing that may be acted on: not a byte of the data directory may change."""
        before = self._settled()
        self._run(REFUSED, seconds, GROWTH_BY_GARBAGE)
        changed = before.items() ^ contents(self._broker.data_dir).items()
        if changed:
            names = sorted({str(path) for path, _ in changed})
            raise BrokerBroken(f"garbage changed {names} ({self._place()})")

    def requests(self, seconds: float) -> None:
        """Requests that may be acted on, among garbage. The witness's topic stays as it is."""
        self._run((*REQUESTS, *REQUESTS, *REFUSED), seconds, GROWTH_BY_REQUESTS)

    def bombs(self, rounds: int) -> None:
        """Beside a client that produces one small record after the other."""
        topics = metadata([BOMBED, INNOCENT])
        explode(self._broker.port, topics)
        with Innocent(self._broker.port, INNOCENT) as innocent:
            for _ in range(rounds):
                self._round(BOMBS)
        self._check()
        if innocent.slowest > SLOWEST_S:
            raise BrokerBroken(
                f"an innocent client waited {innocent.slowest:.1f} s ({self._place()})"
            )

    def finish(self) -> None:
        """The broker stops when asked to, comes back, and still has what the witness wrote."""
        self._witness.close()
        code = self._broker.stop()
        if code != 0:
            raise BrokerBroken(f"exit code {code} after fuzzing ({self._place()})")
        self._broker.start()
        witness = Witness(self._broker.port)
        witness.look()
        witness.close()

    def _run(self, rounds: tuple[Round, ...], seconds: float, growth: int) -> None:
        end = time.monotonic() + seconds
        checks, memory = 0, 0
        while time.monotonic() < end:
            for _ in range(ROUNDS_BETWEEN_CHECKS):
                self._round(rounds)
            self._check()
            checks += 1
            if checks <= WARM_UP_CHECKS:
                memory = self._memory()
            self._expect_at_most("resident bytes", self._memory(), memory + growth)
            connections = len(self._process.net_connections())
            self._expect_at_most("connections", connections, MOST_CONNECTIONS)

    def _round(self, rounds: tuple[Round, ...]) -> None:
        self._number += 1
        source = random.Random(f"{self._seed} {self._number}")
        chosen = source.choice(rounds)
        self.rounds[chosen.__name__] += 1
        try:
            with connect(self._broker.port, REACTION_S) as connection:
                chosen(connection, source, self._requests)
        except (AssertionError, OSError, EOFError) as error:
            self._expect_running()
            what = f"{chosen.__name__}: {type(error).__name__}: {error}"
            raise BrokerBroken(f"{what} ({self._place()})\n{self._log_end()}") from error

    def _expect_running(self) -> None:
        try:
            code = self._process.wait(0.1)
        except psutil.TimeoutExpired:
            return
        raise BrokerBroken(f"the broker ended with {code} ({self._place()})\n{self._log_end()}")

    def _check(self) -> None:
        self._expect_running()
        try:
            self._witness.look()
        except (AssertionError, OSError) as error:
            raise BrokerBroken(f"{error} ({self._place()})\n{self._log_end()}") from error
        if "Traceback" in self._broker.log_text():
            raise BrokerBroken(f"an error nobody handled ({self._place()})\n{self._log_end()}")

    def _expect_at_most(self, what: str, found: int, most: int) -> None:
        if found > most:
            raise BrokerBroken(f"{found} {what}, more than {most} ({self._place()})")

    def _memory(self) -> int:
        return int(self._process.memory_info().rss)

    def _place(self) -> str:
        return f"seed {self._seed}, at most {ROUNDS_BETWEEN_CHECKS} rounds before {self._number}"

    def _log_end(self) -> str:
        text = self._broker.log_text()
        first = text.find("Traceback")
        return text[max(first - 500, 0) : first + 3000] if first >= 0 else text[-3000:]


def contents(directory: Path) -> dict[Path, str]:
    """Every file's name and digest."""
    files = sorted(path for path in directory.rglob("*") if path.is_file())
    return {path: hashlib.sha256(path.read_bytes()).hexdigest() for path in files}
