"""The audit and the quality checks as runs: their findings are the run's result.

The command line runs the same jobs in its own process. After a crash they start from scratch.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pyspark.sql import SparkSession

from holdfast.client.connection import Connection
from holdfast.clock import from_ms
from holdfast.flows.registry import FlowDefinition
from holdfast.flows.run_specs import OffsetRange, Quality, Verify
from holdfast.pipeline.audit.verify import VerifyOptions, verify
from holdfast.pipeline.runs.execution import Execution
from holdfast.pipeline.tables.quality import QualityOptions, check_quality

_PER_CENT = 100


@dataclass(frozen=True, slots=True)
class AuditRun:
    """Executes one audit, or one run of the quality checks."""

    session: SparkSession
    connection: Connection
    flow: FlowDefinition
    lake: str
    execution: Execution

    def carry_out(self) -> Mapping[str, Any]:
        """Returns the run's result; `passed` is True if no fault was found."""
        work = self.execution.run.request.spec
        self.execution.begin({"unit": "per cent"}, _PER_CENT)
        if isinstance(work, Verify):
            result = self._verify(work)
        else:
            assert isinstance(work, Quality)
            result = self._check(work)
        self.execution.reach(_PER_CENT)
        return result

    def _verify(self, work: Verify) -> Mapping[str, Any]:
        options = VerifyOptions(
            lake=self.lake,
            raw_zone=not work.without_raw_zone,
            full=work.full,
            start=None if work.since is None else from_ms(work.since),
            end=None if work.until is None else from_ms(work.until),
        )
        verdict = verify(self.session, self.connection, self.flow, options, self._reach)
        document = verdict.document()
        for name in ("flow", "clean", "seconds"):
            del document[name]
        ranges = [str(OffsetRange(p, *bounds)) for p, bounds in verdict.ranges.items()]
        return {"passed": verdict.clean, **document, "ranges": ranges}

    def _check(self, work: Quality) -> Mapping[str, Any]:
        options = QualityOptions(lake=self.lake, days=work.days)
        report = check_quality(self.session, self.connection, self.flow, options, self._reach)
        document = report.document()
        return {name: document[name] for name in ("passed", "events", "results")}

    def _reach(self, share: float, what: str) -> None:
        self.execution.reach(round(_PER_CENT * share), note=what)
