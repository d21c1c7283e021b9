"""The process of `holdfast up`: its output and its end."""

import signal
import sys
from pathlib import Path
from threading import Event, Lock

from holdfast.up.plan import Plan, make_plan
from holdfast.up.settings import UpSettings
from holdfast.up.supervisor import supervise

_WIDTH = 8
_COLOURS = {"broker": 36, "pipeline": 35, "demo": 33, "guard": 31, "web": 34, "holdfast": 32}


def run(settings: UpSettings, config: Path | None = None) -> int:
    """Run all parts until Ctrl-C or SIGTERM. Returns 0, or 1 if a child could not be started."""
    plan = make_plan(settings, config)
    settings.data_dir.mkdir(parents=True, exist_ok=True)
    stopping = Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stopping.set())
    printer = _Printer()
    ran = supervise(plan.roles, printer.print, stopping, lambda: _welcome(settings, plan, printer))
    printer.print("holdfast", "all parts have ended" if ran else "could not be started: see above")
    return 0 if ran else 1


def _welcome(settings: UpSettings, plan: Plan, printer: "_Printer") -> None:
    printer.print(
        "holdfast",
        f"is up: broker at {plan.kafka}, metrics at {plan.metrics}, data in {settings.data_dir}.",
    )
    if plan.dashboard:
        printer.print("holdfast", f"Dashboard: {plan.dashboard}", strong=True)
    printer.print("holdfast", "Ctrl-C stops it.")


class _Printer:
    """Prints lines of all children to standard output, each after the name of its child."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._coloured = sys.stdout.isatty()

    def print(self, name: str, line: str, *, strong: bool = False) -> None:
        label = f"{name:<{_WIDTH}} |"
        if self._coloured:
            label = f"\x1b[{_COLOURS.get(name, 37)}m{label}\x1b[0m"
            line = f"\x1b[1m{line}\x1b[0m" if strong else line
        with self._lock:
            print(label, line, flush=True)
