"""The web process under load: listing held keys, live tabs, and the first page.

    python -m bench.api                 # all of it, about three minutes
    python -m bench.api --quick         # fewer tabs and requests: to see that it works
    python -m bench.api --part list     # one part (may be given more than once)

The last line printed is one line of JSON. `list_p99_ms` is the time that 99 of 100 listings of held
keys take at most, with 10,000 keys held; `sse_missed` the changes that 200 live tabs did not get,
at 100 changes a second, and `sse_growth_mb` the memory that the process took meanwhile; `page_kb`
all that a browser loads to show the first page, as it is sent (`page_raw_kb`: before it is
compressed), and `outside_requests` what it asked other hosts.

Status records are written here as the gate writes them: what is measured is the web process.
"""

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import psutil
from tests.brokers import EmbeddedBroker, free_ports

import holdfast
from bench.load.child import Child
from bench.load.first_page import first_page
from bench.load.held_keys import HeldKeys
from bench.load.listing import list_keys
from bench.load.live_tabs import live_tabs

KEYS = 10_000

Figures = dict[str, float]


class Stage:
    """A broker, a flow with held keys, and the web process over it."""

    def __init__(self, address: str, keys: HeldKeys, web: psutil.Process, quick: bool) -> None:
        self.address = address
        self.keys = keys
        self.web = web
        self.quick = quick


def listing(stage: Stage) -> Figures:
    return {"list_p99_ms": list_keys(stage.address, requests=100 if stage.quick else 1_000)}


def live(stage: Stage) -> Figures:
    tabs, seconds = (20, 5) if stage.quick else (200, 60)
    missed, growth = live_tabs(
        stage.address, stage.keys, stage.web, tabs=tabs, seconds=seconds, rate=100
    )
    return {"sse_missed": missed, "sse_growth_mb": growth}


def page(stage: Stage) -> Figures:
    loaded = first_page(stage.address)
    return {
        "page_kb": loaded.sent_kb,
        "page_raw_kb": loaded.raw_kb,
        "outside_requests": loaded.outside_requests,
    }


PARTS: dict[str, Callable[[Stage], Figures]] = {"list": listing, "sse": live, "page": page}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="fewer tabs and requests")
    parser.add_argument("--part", action="append", choices=PARTS, help="all unless given")
    options = parser.parse_args()
    found: Figures = {}
    with tempfile.TemporaryDirectory(prefix="holdfast-bench-") as name:
        folder = Path(name)
        with (
            EmbeddedBroker(folder) as broker,
            holdfast.connect(broker.bootstrap) as client,
        ):
            keys = HeldKeys(client)
            keys.fill(KEYS)
            [port] = free_ports(1)
            web = Child(
                [
                    sys.executable, "-m", "holdfast.cli", "web", "--no-access-log",
                    "--kafka", broker.bootstrap, "--listen", f"127.0.0.1:{port}",
                ],
                folder / "web.log",
                environment={
                    **os.environ,
                    "HOLDFAST_WEB_REQUESTS_PER_SECOND": "100000",
                    "HOLDFAST_WEB_REQUEST_BURST": "100000",
                },
            )  # fmt: skip
            with web:
                address = f"http://127.0.0.1:{port}"
                keys.wait_until_shown(address)
                stage = Stage(address, keys, psutil.Process(web.pid), options.quick)
                for part in options.part or PARTS:
                    print(f"== {part}", flush=True)
                    found |= PARTS[part](stage)
    print(json.dumps({name: round(value, 2) for name, value in found.items()}))


if __name__ == "__main__":
    main()
