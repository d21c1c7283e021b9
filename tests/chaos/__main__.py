"""What the tests do briefly, for longer.

python -m tests.chaos                          everything, each with its defaults
python -m tests.chaos broker --rounds 300      kill -9 of the broker under load
python -m tests.chaos processing --seconds 60  members that come and go, pauses by others
"""

import sys

from tests.chaos import broker, processing

TRIALS = {"broker": broker.main, "processing": processing.main}


def main(argv: list[str]) -> int:
    if not argv:
        return max(trial([]) for trial in TRIALS.values())
    if argv[0] not in TRIALS:
        print(__doc__, file=sys.stderr)
        return 2
    return TRIALS[argv[0]](argv[1:])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
