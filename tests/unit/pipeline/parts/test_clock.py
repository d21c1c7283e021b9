"""The clocks of the process, read as one."""

import time

import pytest

from holdfast.clock import now_ms
from holdfast.pipeline.parts import clock as module
from holdfast.pipeline.parts.clock import PipelineClock


class Clocks:
    """The machine's clocks."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.monotonic = 5_000_000_000
        self.ahead = 0
        self.stops = 0
        """How often the process is yet to be stopped between two readings, for a minute each."""
        monkeypatch.setattr(module, "monotonic_ns", lambda: self.monotonic)
        monkeypatch.setattr(module, "time_ns", self.read)

    def read(self) -> int:
        wall = 1_700_000_000_000_000_000 + self.monotonic + self.ahead
        if self.stops:
            self.stops -= 1
            self.monotonic += 60_000_000_000
        return wall


@pytest.fixture
def clocks(monkeypatch: pytest.MonkeyPatch) -> Clocks:
    return Clocks(monkeypatch)


def test_a_process_paused_between_two_readings_reports_no_jump(clocks: Clocks) -> None:
    clock = PipelineClock()
    for stops in (1, 0, 2, 0):
        clocks.stops = stops
        clocks.monotonic += 20_000_000
        assert clock().wall == clocks.read() // 1_000_000
    assert (clock.jumps, clock.trouble()) == (0, None)


def test_a_jump_is_counted_logged_once_and_reported_as_trouble(
    clocks: Clocks, caplog: pytest.LogCaptureFixture
) -> None:
    clock = PipelineClock()
    clocks.ahead = -90_000_000_000
    for _ in range(3):
        clock()
    assert clock.jumps == 1
    assert "jumped back by 90 s" in str(clock.trouble())
    assert len(caplog.records) == 1


@pytest.mark.parametrize(
    ("at", "ahead"),
    [(1_500, 0), (1_000, 0), (2_000, 0), (400, 600), (2_700, -700), (-59_000, 60_000)],
)
def test_clock_difference_excludes_the_time_a_report_takes(at: int, ahead: int) -> None:
    """A report was sent at 1,000 and its acknowledgement heard at 2,000."""
    clock = PipelineClock()
    clock.appended(at, sent=1_000, acknowledged=2_000)
    expected = ahead if abs(ahead) > 1_000 else 0
    assert clock.ahead_of_broker == expected


def test_a_healthy_machine_uses_its_own_clock() -> None:
    clock = PipelineClock()
    before = now_ms()
    for _ in range(100):
        now = clock()
        assert now.monotonic <= time.monotonic_ns() // 1_000_000
    assert before <= now.wall <= now_ms()
