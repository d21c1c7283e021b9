"""kill -9 under load, at random points. `make chaos` does the same for hundreds of rounds."""

import secrets
from pathlib import Path

from tests.chaos.broker.rounds import run


def test_acknowledged_records_are_there_once_after_thirty_kills(tmp_path: Path) -> None:
    seed = secrets.randbelow(1 << 32)
    print(f"to repeat: python -m tests.chaos broker --rounds 30 --seed {seed}")
    assert run(30, seed, tmp_path) == []
