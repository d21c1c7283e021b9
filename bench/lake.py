"""The raw zone and the tables above it, on one Apache Kafka.

    python -m bench.lake                # all of it, about a quarter of an hour
    python -m bench.lake --quick        # fewer rounds and events: to see that it works
    python -m bench.lake --part raw     # one part (may be given more than once)

The last line printed is one line of JSON. `raw` is the raw zone's events a second over those of the
bare query from Kafka to Delta, `raw_same_reading` over those of the bare query with the raw zone's
settings for reading; `verify_s` the seconds in which `holdfast verify` accounts for three
million events, `verify_growth` how many times as long it takes for twice as many; `replay_eps`
the events a second of a replay without a limit.
"""

import argparse
import json
import tempfile
from collections.abc import Callable
from pathlib import Path

from bench.load.raw_zone import raw
from bench.load.replay import replay
from bench.load.stage import Figures, Stage
from bench.load.verification import verify
from bench.peers.kafka import ProductionKafka

PARTS: dict[str, Callable[[Stage], Figures]] = {"raw": raw, "verify": verify, "replay": replay}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="fewer rounds and events")
    parser.add_argument("--part", action="append", choices=PARTS, help="all unless given")
    options = parser.parse_args()
    found: Figures = {}
    with tempfile.TemporaryDirectory(prefix="holdfast-bench-") as name:
        folder = Path(name)
        with ProductionKafka(folder / "kafka") as kafka:
            stage = Stage(kafka.bootstrap, folder, quick=options.quick)
            for part in options.part or PARTS:
                print(f"== {part}", flush=True)
                found |= PARTS[part](stage)
            stage.close()
    print(json.dumps({name: round(value, 3) for name, value in found.items()}))


if __name__ == "__main__":
    main()
