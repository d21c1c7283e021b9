"""The refresh of a flow's tables as a run: the rows of each table are the run's result.

`holdfast table refresh` runs the same jobs in its own process. After a crash the run starts again:
the tables merge rows by identity, so no event is added twice.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pyspark.sql import SparkSession

from holdfast.flows.registry import FlowDefinition
from holdfast.flows.run_specs import Refresh
from holdfast.pipeline.runs.execution import Execution
from holdfast.pipeline.tables.gold import refresh_gold, tables_of
from holdfast.pipeline.tables.silver import refresh_silver

_PER_CENT = 100
_SILVER_SHARE = 0.6
"""Silver parses every new event; gold reads only what changed in silver."""


@dataclass(frozen=True, slots=True)
class RefreshRun:
    """Executes one refresh."""

    session: SparkSession
    flow: FlowDefinition
    lake: str
    execution: Execution

    def carry_out(self) -> Mapping[str, Any]:
        """Returns the run's result: the rows added to silver and quarantine, and those of gold."""
        work = self.execution.run.request.spec
        assert isinstance(work, Refresh)
        self.execution.begin({"unit": "per cent"}, _PER_CENT)
        silver = refresh_silver(
            self.session, self.flow, self.lake, self._reach_silver, rebuild=work.rebuild
        )
        gold: dict[str, int] = {}
        if tables_of(self.flow):
            gold = refresh_gold(
                self.session, self.flow, self.lake, self._reach_gold, rebuild=work.rebuild
            )
        self.execution.reach(_PER_CENT)
        return {
            "added": silver.rows,
            "quarantined": silver.quarantined,
            "rows": silver.total,
            "gold": gold,
        }

    def _reach_silver(self, share: float, what: str) -> None:
        self._reach(_SILVER_SHARE * share, what)

    def _reach_gold(self, share: float, what: str) -> None:
        self._reach(_SILVER_SHARE + (1 - _SILVER_SHARE) * share, what)

    def _reach(self, share: float, what: str) -> None:
        self.execution.reach(round(_PER_CENT * share), note=what)
