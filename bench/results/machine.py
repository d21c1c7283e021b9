"""Where and of what a result was measured."""

import os
import platform
import re
import subprocess
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import version
from pathlib import Path

from holdfast.jars import jars

PROJECT = Path(__file__).resolve().parents[2]


@cache
def machine() -> dict[str, str]:
    """The machine, and the versions of what runs on it."""
    return {
        "processor": f"{os.cpu_count()} cores, {_processor()}",
        "memory": f"{os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / 2**30:.0f} GiB",
        "system": f"{platform.system()} {platform.release()}",
        "Python": platform.python_version(),
        "JDK": _jdk(),
        "Apache Kafka, Kafka Streams": _kafka(),
        "Spark": version("pyspark"),
        "confluent-kafka": version("confluent-kafka"),
        "sentry-arroyo": version("sentry-arroyo"),
    }


def commit(at: datetime) -> str:
    """The last commit at that time; with a plus if files have changed since and `at` is now."""
    head = _git("log", "-1", f"--before={at.isoformat()}", "--format=%h")
    fresh = (datetime.now(UTC) - at).total_seconds() < 60
    changed = fresh and _git("status", "--porcelain", "--untracked-files=no", "--", "src", "bench")
    return f"{head}+" if changed else head


def _git(*arguments: str) -> str:
    done = subprocess.run(
        ["git", *arguments], cwd=PROJECT, capture_output=True, text=True, check=False
    )
    return done.stdout.strip()


def _processor() -> str:
    found = re.search(r"^model name\s*:\s*(.+)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    return found[1].strip() if found else platform.machine()


def _jdk() -> str:
    said = subprocess.run(["java", "-version"], capture_output=True, text=True, check=False).stderr
    found = re.search(r'version "([^"]+)"', said)
    return found[1] if found else "unknown"


def _kafka() -> str:
    names = " ".join(jar.name for jar in jars("kafka"))
    found = re.search(r"kafka-streams-([\d.]+)\.jar", names)
    return found[1] if found else "unknown"
