"""How `make test` spreads the tests over processes.

Each process runs whole files, with brokers and a Spark session of its own. Tests mostly wait for
other processes, so there is one more of them than there are cores.
"""

import os

import pytest

EXTRA_WORKERS = 1
BYTES_PER_WORKER = 3 << 30
"""An Apache Kafka, a Spark with its workers, and what a test starts beside them."""

SLOW_FIRST = (
    "tests/integration/runs/",
    "tests/integration/pipeline/",
    "tests/integration/chaos/",
    "tests/integration/raw_zone/",
    "tests/integration/lake/",
    "tests/integration/up/",
    "tests/browser/",
    "tests/integration/",
)
"""Files in the order in which they are given out: a slow one that began last would end alone."""


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    cores = len(os.sched_getaffinity(0))
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return max(1, min(cores + EXTRA_WORKERS, memory // BYTES_PER_WORKER))


class FailureNames:
    """Prints a test's name and error as soon as it fails: a run may take half an hour more."""

    def __init__(self, config: pytest.Config) -> None:
        self._plugins = config.pluginmanager

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            terminal = self._plugins.get_plugin("terminalreporter")
            assert terminal is not None
            error = str(getattr(report.longrepr, "reprcrash", report.longrepr))[:500]
            terminal.write_line(f"\nFAILED ({report.when}) {report.nodeid}: {error}")


def pytest_configure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(FailureNames(config))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: _rank(item.nodeid))


def _rank(name: str) -> int:
    matches = (rank for rank, start in enumerate(SLOW_FIRST) if name.startswith(start))
    return next(matches, len(SLOW_FIRST))
