"""The supervisor, with small real processes as children."""

import os
import re
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from threading import Event, Thread

import psutil
import pytest
from tests.clients import DEADLINE_S, wait_until

from holdfast.up import supervisor
from holdfast.up.child import Role
from holdfast.up.supervisor import supervise

CHILD = """
import os, signal, sys, time
name, folder = sys.argv[1:3]
def note(what):
    with open(os.path.join(folder, "notes"), "a") as notes:
        notes.write(f"{what} {name} {os.getpid()}\\n")
def end(*_):
    note("ended"); sys.exit(0)
signal.signal(signal.SIGTERM, end)
note("started")
print("serving", flush=True)
while True: time.sleep(0.02)
"""
FALLS = "import sys; print('no such file', file=sys.stderr); sys.exit(%d)"


class Run:
    """A supervisor on a thread of this test."""

    def __init__(self, folder: Path, roles: list[Role]) -> None:
        self.notes = folder / "notes"
        self.lines: list[tuple[str, str]] = []
        self.ready = Event()
        self.stopping = Event()
        self.result: bool | None = None
        self._roles = roles
        self._thread = Thread(target=self._supervise)
        self._thread.start()

    def _supervise(self) -> None:
        self.result = supervise(
            self._roles, lambda *line: self.lines.append(line), self.stopping, self.ready.set
        )

    def noted(self) -> list[tuple[str, str, int]]:
        if not self.notes.exists():
            return []
        split = (line.split() for line in self.notes.read_text().splitlines())
        return [(what, name, int(pid)) for what, name, pid in split]

    def pids(self, name: str) -> list[int]:
        return [pid for what, who, pid in self.noted() if (what, who) == ("started", name)]

    def stop(self) -> bool | None:
        self.stopping.set()
        self._thread.join(DEADLINE_S)
        assert not self._thread.is_alive()
        return self.result


@pytest.fixture
def start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Run]:
    for name in ("FIRST_PAUSE_SECONDS", "CHECK_SECONDS", "_TURN_SECONDS"):
        monkeypatch.setattr(supervisor, name, 0.02)
    return lambda *roles: Run(tmp_path, list(roles))


def role(
    name: str,
    folder: Path,
    well: Callable[[], bool] = lambda: True,
    code: str = CHILD,
    not_again: dict[int, str] | None = None,
) -> Role:
    return Role(
        name=name,
        command=(sys.executable, "-c", code, name, str(folder)),
        ready=re.compile("^serving"),
        well=well,
        stop_seconds=10,
        not_again=not_again or {},
    )


def test_children_stop_in_the_opposite_order_one_after_the_other(
    start: Callable[..., Run], tmp_path: Path
) -> None:
    run = start(role("broker", tmp_path), role("pipeline", tmp_path))
    assert run.ready.wait(DEADLINE_S)
    assert run.stop() is True
    ended = [name for what, name, _ in run.noted() if what == "ended"]
    assert ended == ["pipeline", "broker"]
    assert ("broker", "serving") in run.lines


def test_killed_child_restarts_while_others_keep_running(
    start: Callable[..., Run], tmp_path: Path
) -> None:
    run = start(role("broker", tmp_path), role("pipeline", tmp_path))
    assert run.ready.wait(DEADLINE_S)
    os.kill(run.pids("pipeline")[0], signal.SIGKILL)
    wait_until(lambda: len(run.pids("pipeline")) == 2, "a second pipeline")
    assert len(run.pids("broker")) == 1
    assert run.stop() is True
    assert any("signal 9" in line for name, line in run.lines if name == "pipeline")


def test_child_that_runs_but_does_not_answer_is_restarted(
    start: Callable[..., Run], tmp_path: Path
) -> None:
    answers = iter([True, False, False, False])
    run = start(role("pipeline", tmp_path, well=lambda: next(answers, True)))
    wait_until(lambda: len(run.pids("pipeline")) == 2, "a second pipeline")
    assert run.stop() is True
    assert next(answers, None) is None


def test_child_that_never_becomes_ready_stops_all_others(
    start: Callable[..., Run], tmp_path: Path
) -> None:
    run = start(role("broker", tmp_path), role("pipeline", tmp_path, code=FALLS % 1))
    wait_until(lambda: run.result is not None, "the end")
    assert run.stop() is False
    assert run.lines.count(("pipeline", "no such file")) == supervisor.MAX_STARTS
    assert [name for what, name, _ in run.noted() if what == "ended"] == ["broker"]


def test_a_child_that_was_replaced_is_not_started_again(
    start: Callable[..., Run], tmp_path: Path
) -> None:
    replaced = {3: "another one has taken over"}
    run = start(
        role("broker", tmp_path), role("pipeline", tmp_path, code=FALLS % 3, not_again=replaced)
    )
    said = ("pipeline", "has ended: another one has taken over")
    wait_until(lambda: said in run.lines and run.pids("broker"), "the news")
    assert run.ready.wait(DEADLINE_S), "it is not waited for"
    assert run.result is None, "the others go on"
    assert run.stop() is True
    assert run.lines.count(("pipeline", "no such file")) == 1


def test_processes_of_a_child_do_not_outlive_it(start: Callable[..., Run], tmp_path: Path) -> None:
    offspring = tmp_path / "offspring"
    code = (
        f"import subprocess, sys; sleeper = subprocess.Popen(['sleep', '600'])\n"
        f"open({str(offspring)!r}, 'w').write(str(sleeper.pid))\n"
    ) + CHILD
    run = start(role("pipeline", tmp_path, code=code))
    assert run.ready.wait(DEADLINE_S)
    pid = int(offspring.read_text())
    assert psutil.pid_exists(pid)
    run.stop()
    wait_until(
        lambda: not psutil.pid_exists(pid) or psutil.Process(pid).status() == "zombie", "its end"
    )
