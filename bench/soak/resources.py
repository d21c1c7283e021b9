"""Resources of the processes: memory, handles, threads, processor, disk."""

import os
import time
from collections.abc import Iterable
from pathlib import Path

import psutil

from bench.soak.heap import heap_figures

_MB = 1024**2


class ProcessGoneError(Exception):
    """A process that should have run throughout has ended, or was restarted."""


class Watched:
    """A process, or several that count as one."""

    def __init__(self, name: str, processes: Iterable[psutil.Process]) -> None:
        self.name = name
        self._processes = list(processes)
        self._busy: tuple[float, float] | None = None

    def figures(self) -> dict[str, float]:
        """Since the last call, as far as it is a matter of time."""
        found = self._members()
        now, used = time.monotonic(), sum(_cpu_seconds(process) for process in found)
        before, self._busy = self._busy, (now, used)
        figures = {
            "memory_mb": sum(process.memory_info().rss for process in found) / _MB,
            "handles": float(sum(process.num_fds() for process in found)),
            "threads": float(sum(process.num_threads() for process in found)),
        }
        if before is not None:
            figures["cpu_percent"] = 100 * max(0.0, used - before[1]) / (now - before[0])
        return {f"{self.name}.{figure}": value for figure, value in figures.items()}

    def _members(self) -> list[psutil.Process]:
        for process in self._processes:
            if not process.is_running() or process.status() == psutil.STATUS_ZOMBIE:
                raise ProcessGoneError(f"{self.name} (process {process.pid}) has ended")
        return self._processes


class SparkJvm(Watched):
    """Spark's JVM, with what lives in its heap."""

    def __init__(self, jvm: psutil.Process) -> None:
        super().__init__("spark-jvm", [jvm])
        self._pid = jvm.pid

    def figures(self) -> dict[str, float]:
        return super().figures() | heap_figures(self._pid)


class SparkWorkers(Watched):
    """The Python processes that Spark's JVM has started. They come and go."""

    def __init__(self, jvm: psutil.Process) -> None:
        super().__init__("spark-workers", [])
        self._jvm = jvm

    def figures(self) -> dict[str, float]:
        try:
            return super().figures()
        except psutil.NoSuchProcess:  # one ended while it was looked at: the next sample has them
            return {}

    def _members(self) -> list[psutil.Process]:
        return [p for p in self._jvm.children(recursive=True) if p.name().startswith("python")]


def spark_jvm(driver: psutil.Process) -> psutil.Process:
    """The JVM of a pipeline."""
    (found,) = [p for p in driver.children(recursive=True) if p.name() == "java"]
    return found


def _cpu_seconds(process: psutil.Process) -> float:
    """With those of its children that have ended."""
    times = process.cpu_times()
    return float(times.user + times.system + times.children_user + times.children_system)


def disk_figures(folders: Iterable[Path]) -> dict[str, float]:
    return {f"{folder.name}.disk_mb": _taken(folder) / _MB for folder in folders}


def _taken(folder: Path) -> int:
    """Blocks, not lengths: the broker's active segments are longer than what they hold."""
    total = 0
    waiting = [folder]
    while waiting:
        try:
            with os.scandir(waiting.pop()) as entries:
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(Path(entry.path))
                    else:
                        total += entry.stat(follow_symlinks=False).st_blocks * 512
        except FileNotFoundError:  # deleted while it was looked at
            continue
    return total
