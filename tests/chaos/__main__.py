"""Long versions of tests.

python -m tests.chaos --minutes 60             the whole system under load and all kinds of faults
python -m tests.chaos broker --rounds 300      kill -9 of the broker under load
python -m tests.chaos processing --seconds 60  members that come and go, pauses by others
python -m tests.chaos client --seconds 60      a store that is away; a group that never rests
python -m tests.chaos replay --events 1000000  a replay at a rate, which it must keep to

Each trial tells of its options with --help. What fails prints the seed that repeats it.
"""

import sys
from importlib import import_module

TRIALS = {
    "system": "tests.chaos.system.command",
    "broker": "tests.chaos.broker.command",
    "processing": "tests.chaos.processing",
    "client": "tests.chaos.client",
    "replay": "tests.chaos.replay",
}


def main(argv: list[str]) -> int:
    """Without a name it is the whole system."""
    name, options = ("system", argv) if not argv or argv[0].startswith("-") else (argv[0], argv[1:])
    if name not in TRIALS:
        print(__doc__, file=sys.stderr)
        return 2
    code: int = import_module(TRIALS[name]).main(options)
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
