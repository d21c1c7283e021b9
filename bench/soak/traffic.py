"""Producers and operators, in a process of their own:

python -m bench.soak.traffic BOOTSTRAP PER_SECOND FLOW...

Until SIGTERM; then every key is released, and the last line says what was sent, by flow.
"""

import json
import signal
import sys
import threading
from contextlib import ExitStack

import holdfast
from bench.load.events import Load
from bench.load.paced import traffic
from holdfast.client.client import Client
from holdfast.flows.names import FlowNames

LOAD = Load(count=10**15, keys=5_000, held=100)
"""Endless. The held keys take turns."""
AT_ONCE = 20
"""Keys of a flow that are on hold at a time."""
TURN_S = 0.5
PACE = 100.0
"""Events a second at which every other release lets go."""
LINGER_MS = 10


class Rota(threading.Thread):
    """Holds the next key and releases the one that has been on hold for longest, again and
    again."""

    def __init__(self, client: Client, flow: str, stopping: threading.Event) -> None:
        super().__init__(name=f"rota {flow}")
        self._flow = client.flow(flow)
        self._stopping = stopping

    def run(self) -> None:
        keys = LOAD.held_keys
        turn = 0
        while not self._stopping.wait(TURN_S):
            self._flow.hold(keys[turn % len(keys)], reason="soak")
            if turn >= AT_ONCE:
                pace = PACE if turn % 2 else None
                self._flow.release(keys[(turn - AT_ONCE) % len(keys)], pace=pace)
            turn += 1
        for key in keys:
            self._flow.release(key)


def main(bootstrap: str, per_second: float, flows: list[str]) -> None:
    stopping = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stopping.set())
    with holdfast.connect(bootstrap) as client:
        with ExitStack() as running:
            sources = {
                flow: running.enter_context(
                    traffic(
                        bootstrap,
                        FlowNames(flow).events,
                        LOAD,
                        per_second / len(flows),
                        linger_ms=LINGER_MS,
                    )
                )
                for flow in flows
            }
            rotas = [Rota(client, flow, stopping) for flow in flows]
            for rota in rotas:
                rota.start()
            print("Traffic flows", flush=True)
            stopping.wait()
        for rota in rotas:
            rota.join()
    print(json.dumps({flow: source.sent for flow, source in sources.items()}), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], float(sys.argv[2]), sys.argv[3:])
