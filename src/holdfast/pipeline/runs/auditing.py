"""The audit and the checks of quality as runs: what they find is the run's result.

The jobs are those that the command line runs in a process of its own. Nothing of them has to be
gone on with after a crash: they begin anew.
"""

from collections.abc import Mapping
from typing import Any

from pyspark.sql import SparkSession

from holdfast.client.connection import Connection
from holdfast.client.encoding import from_milliseconds
from holdfast.flows.registry import FlowDefinition
from holdfast.flows.work import OffsetRange, Quality, Verify
from holdfast.pipeline.lake.audit.verify import VerifyOptions, verify
from holdfast.pipeline.lake.quality import QualityOptions, check_quality
from holdfast.pipeline.runs.execution import Execution

_PER_CENT = 100


class AuditRun:
    """Carries one audit out, or one run of the checks."""

    def __init__(
        self,
        session: SparkSession,
        connection: Connection,
        flow: FlowDefinition,
        lake: str,
        execution: Execution,
    ) -> None:
        self._session = session
        self._connection = connection
        self._flow = flow
        self._lake = lake
        self._execution = execution

    def carry_out(self) -> Mapping[str, Any]:
        """-> the run's result; `passed` says whether all is as it must be"""
        work = self._execution.run.request.work
        self._execution.begin({"unit": "per cent"}, _PER_CENT)
        if isinstance(work, Verify):
            result = self._verify(work)
        else:
            assert isinstance(work, Quality)
            result = self._check(work)
        self._execution.reach(_PER_CENT)
        return result

    def _verify(self, work: Verify) -> Mapping[str, Any]:
        options = VerifyOptions(
            lake=self._lake,
            raw_zone=not work.without_raw_zone,
            full=work.full,
            start=None if work.since is None else from_milliseconds(work.since),
            end=None if work.until is None else from_milliseconds(work.until),
        )
        found = verify(self._session, self._connection, self._flow, options, self._reach)
        document = found.document()
        for name in ("flow", "clean", "seconds"):
            del document[name]
        ranges = [str(OffsetRange(p, *bounds)) for p, bounds in found.ranges.items()]
        return {"passed": found.clean, **document, "ranges": ranges}

    def _check(self, work: Quality) -> Mapping[str, Any]:
        options = QualityOptions(lake=self._lake, days=work.days)
        report = check_quality(self._session, self._connection, self._flow, options, self._reach)
        document = report.document()
        return {name: document[name] for name in ("passed", "events", "results")}

    def _reach(self, share: float, what: str) -> None:
        self._execution.reach(round(_PER_CENT * share), note=what)
