"""Rounds of load, kill -9 at a random point, and a new start on the same data."""

import random
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from tests.brokers import EmbeddedBroker
from tests.chaos.broker.load import (
    PARTITIONS,
    PLAIN,
    TABLE,
    TRANSACTED,
    GroupReader,
    IdempotentWriter,
    Ledger,
    TransactionWriter,
    Work,
    guarded,
)
from tests.chaos.broker.verdict import judge, judge_group
from tests.clients import create_topic

LONGEST_ROUND_S = 3.0

# Small segments and eager compaction: kills then also fall on rolls, cleaning and swaps.
_SMALL_SEGMENTS = {"segment.bytes": "50000"}
_COMPACTED = {
    "cleanup.policy": "compact",
    "segment.ms": "200",
    "min.cleanable.dirty.ratio": "0.01",
}


def run(rounds: int, seed: int, directory: Path, say: Callable[[str], None] = print) -> list[str]:
    """Returns the broken promises. The seed fixes the points of the kills."""
    dice = random.Random(seed)
    broker = EmbeddedBroker(directory, {"housekeeping_seconds": 0.2})
    broker.start()
    create_topic(broker, PLAIN, PARTITIONS, _SMALL_SEGMENTS)
    create_topic(broker, TRANSACTED, PARTITIONS, _SMALL_SEGMENTS)
    create_topic(broker, TABLE, 1, _COMPACTED)
    ledger = Ledger()
    writer = IdempotentWriter(broker, ledger, random.Random(seed))
    transactions = TransactionWriter(broker, ledger)
    load = [writer.run, transactions.run, GroupReader(broker, ledger).run]
    try:
        for number in range(1, rounds + 1):
            _one_round(broker, load, ledger, dice)
            if ledger.faults:
                say(f"round {number}: {ledger.faults}")
                break
            if number % 10 == 0:
                say(f"round {number}: {_progress(ledger)}")
        writer.finish()
        transactions.resolve()
        return judge(broker, ledger)
    finally:
        broker.kill()


def _one_round(
    broker: EmbeddedBroker, load: Sequence[Work], ledger: Ledger, dice: random.Random
) -> None:
    """The broker runs when this begins and when it ends."""
    over = threading.Event()
    threads = [_thread(work, ledger, over) for work in load]
    _let_it_work(ledger, transactions=dice.randrange(0, 15))
    time.sleep(dice.uniform(0, 0.05))
    broker.kill()
    over.set()
    for thread in threads:
        thread.join(30)
    if dice.random() < 0.2:  # killed again while it recovers
        broker.launch()
        time.sleep(dice.uniform(0.05, 0.3))
        broker.kill()
    broker.start()
    ledger.faults += judge_group(broker, ledger.committed_offsets)


def _let_it_work(ledger: Ledger, transactions: int) -> None:
    """Until this many more transactions are committed: on a busy machine time says nothing."""
    target = len(ledger.committed) + transactions
    end = time.monotonic() + LONGEST_ROUND_S
    while len(ledger.committed) < target and time.monotonic() < end:
        time.sleep(0.001)


def _thread(work: Work, ledger: Ledger, stop: threading.Event) -> threading.Thread:
    thread = threading.Thread(target=guarded(work, ledger), args=[stop], daemon=True)
    thread.start()
    return thread


def _progress(ledger: Ledger) -> str:
    return (
        f"{len(ledger.acknowledged)} records acknowledged, {len(ledger.seen)} read, "
        f"{len(ledger.committed)} transactions committed"
    )
