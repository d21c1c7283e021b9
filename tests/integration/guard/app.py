"""A guard as users write it: a process whose handler does what each event says.

    python app.py BOOTSTRAP GUARD TOPIC LOG [SETTINGS]

The value of an event is {"n": number, "do": action}. Each handled event is sent to `<topic>.out`,
and each call of the handler is a line in LOG: process id, key, n, attempt.
"""

import asyncio
import json
import os
import signal
import sys
import time
from collections.abc import Sequence
from typing import Any

import holdfast
from holdfast.errors import TimedOutError
from holdfast.guard.circuit import CircuitSettings
from holdfast.guard.shared import WorkerSettings
from holdfast.kafka.transactions import Transactions
from holdfast.logs import log_to_stderr


def lose_answers(numbers: Sequence[int]) -> None:
    """The answers to these commits of this process are lost: each has happened, and looks as if it
    had not."""
    commit, count = Transactions.commit, iter(range(1, 1_000_000))

    def commit_unheard(
        self: Transactions, offsets: Sequence[Any] = (), group_metadata: bytes = b""
    ) -> None:
        commit(self, offsets, group_metadata)
        if next(count) in numbers:
            print("lost an answer", file=sys.stderr, flush=True)
            raise TimedOutError("The answer was lost.")

    Transactions.commit = commit_unheard  # type: ignore[method-assign]


def main(bootstrap: str, name: str, topic: str, log: str, settings: str = "{}") -> None:
    options = json.loads(settings)
    lose_answers(options.get("lost_answers", []))
    guard = holdfast.Guard(
        name,
        topic=topic,
        bootstrap=bootstrap,
        kafka={
            "session.timeout.ms": 6_000,
            "heartbeat.interval.ms": 500,
            **options.get("kafka", {}),
        },
        settings=WorkerSettings(**options.get("worker", {})),
        circuit=CircuitSettings(**options.get("circuit", {"keys": 1_000})),
        http=options.get("http"),
    )
    policy = {"attempts": 3, "backoff": "0.2s..1s", **options.get("policy", {})}
    file = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT)

    def act(event: holdfast.Event) -> float:
        """Returns how long to wait."""
        value = event.json()
        key = (event.key or b"").decode()
        os.write(file, f"{os.getpid()} {key} {value['n']} {event.attempt}\n".encode())
        do = value.get("do", "")
        if do == "fail" or (do == "fail-twice" and event.attempt <= 2):
            raise ValueError(f"no to {value['n']}")
        if do.startswith("slow-until:") and event.attempt > 1:
            while not os.path.exists(do.split(":")[1]):
                time.sleep(0.02)
        if do.startswith("slow-until:") and not os.path.exists(do.split(":")[2]):
            raise ValueError("not yet")
        if do.startswith("until:") and not os.path.exists(do[6:]):
            raise ValueError("not yet")
        if do.startswith("needs-version:") and options.get("version", 1) < int(do[14:]):
            raise ValueError("this version cannot do it")
        match do:
            case "exit":
                os._exit(7)
            case "crash":
                os.kill(os.getpid(), signal.SIGSEGV)
                time.sleep(60)
            case "skip":
                raise holdfast.Skip("not for us")
            case "hold":
                raise holdfast.Hold("manual review")
            case "too-large":
                event.send(f"{topic}.out", "x" * 5_000_000)
            case "missing-topic":
                event.send("there-is-no-such-topic", "x")
        event.send(f"{topic}.out", {"n": value["n"]}, key=event.key)
        if do == "exit-later":
            time.sleep(3)
            os._exit(7)
        if do.startswith("sleep:"):
            return float(do[6:])
        if do.startswith("wait:"):
            while not os.path.exists(do[5:]):
                time.sleep(0.02)
        return 0.0

    if options.get("use_async"):

        @guard.handler(**policy)
        async def handle_async(event: holdfast.Event) -> None:
            await asyncio.sleep(act(event))

    else:

        @guard.handler(**policy)
        def handle(event: holdfast.Event) -> None:
            time.sleep(act(event))

    log_to_stderr()
    guard.run()


if __name__ == "__main__":
    main(*sys.argv[1:])
