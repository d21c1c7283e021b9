"""Known weaknesses of the locked packages, as pip-audit finds them.

What is found fails. What could not be looked up does not: a check must not depend on the network,
but it must not sound like a clean bill either, so it is said.
"""

import json
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from tempfile import NamedTemporaryFile
from typing import Any

from tools.supply_chain.locked import LOCKS, packages

_AUDIT_S = 120.0


@dataclass(frozen=True, slots=True)
class Findings:
    """The result of an audit of dependencies."""

    weaknesses: tuple[str, ...] = ()
    looked_up: int = 0
    not_looked_up: int = 0
    why_not: str = ""

    def __str__(self) -> str:
        if self.weaknesses:
            return "\n".join(self.weaknesses)
        if not self.looked_up:
            return f"SKIPPED: no package was looked up for known weaknesses. {self.why_not}"
        said = f"No known weakness in {self.looked_up} packages."
        if self.not_looked_up:
            said += f" {self.not_looked_up} were NOT looked up: {self.why_not}"
        return said


def audit() -> Findings:
    """Look all locked packages up; first one alone, since mirrors of the package index do not have
    what is asked for, and would be asked a hundred times."""
    first = _first()
    return _audit([*_locked()]) if first.looked_up or first.weaknesses else first


def _first() -> Findings:
    one = next(iter(packages().values()))
    with NamedTemporaryFile("w", suffix=".txt") as alone:
        alone.write(f"{one.name}=={one.version}\n")
        alone.flush()
        return _audit(["-r", alone.name, "--no-deps"])


def _locked() -> Iterator[str]:
    for lock in LOCKS:
        yield from ("-r", str(lock))
    yield "--require-hashes"


def _audit(arguments: Sequence[str]) -> Findings:
    command = [
        sys.executable, "-m", "pip_audit", *arguments, "--disable-pip",
        "--format", "json", "--progress-spinner", "off",
    ]  # fmt: skip
    try:
        ran = subprocess.run(command, capture_output=True, text=True, timeout=_AUDIT_S, check=False)
    except subprocess.TimeoutExpired:
        return Findings(why_not=f"pip-audit had no answer within {_AUDIT_S:.0f} s.")
    try:
        report = json.loads(ran.stdout)
    except ValueError:
        return _without_report(ran.stderr)
    return findings(report)


def findings(report: dict[str, Any]) -> Findings:
    """The findings in pip-audit's report."""
    entries = report["dependencies"]
    skipped = [entry["skip_reason"] for entry in entries if "skip_reason" in entry]
    return Findings(
        tuple(_weaknesses(entries)),
        len(entries) - len(skipped),
        len(skipped),
        skipped[0] if skipped else "",
    )


def _weaknesses(entries: Iterable[dict[str, Any]]) -> Iterator[str]:
    for entry in entries:
        for found in entry.get("vulns", ()):
            fixed = ", ".join(found["fix_versions"]) or "none yet"
            yield f"{entry['name']} {entry['version']}: {found['id']} (fixed in: {fixed})"


def _without_report(said: str) -> Findings:
    last = said.strip().rpartition("\n")[2]
    if "Connection" in said or "Timeout" in said:
        return Findings(why_not=f"The connection to PyPI broke off: {last}")
    raise RuntimeError(f"pip-audit has failed: {last}")
