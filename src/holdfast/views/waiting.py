"""Requests that wait until a command is visible or effective, without their own consumer."""

import asyncio
from collections.abc import Iterable

from holdfast.flows.journal import Outcome
from holdfast.views.audit import AuditRow


class Waiting:
    """A request that waits for outcomes of commands, and for an offset of the control log.

    Created on an event loop; updated by the thread that follows the topics, under the view's lock.
    """

    def __init__(self, command_ids: Iterable[str], control_end: int, partitions: int = 1) -> None:
        """`partitions`: how many must answer each command."""
        self.outcomes: dict[str, AuditRow] = {}
        self.ids = frozenset(command_ids)
        self._partitions = partitions
        self._answered: dict[str, set[int]] = {}
        self._control_end = control_end
        self._control_seen = False
        self._loop = asyncio.get_running_loop()
        self._done = asyncio.Event()

    def take(self, row: AuditRow) -> None:
        """Take an outcome. For repeats of a command, the outcome of the first one counts."""
        if row.command_id in self.ids and row.outcome is not None:
            self._answered.setdefault(row.command_id, set()).add(row.partition)
            known = self.outcomes.get(row.command_id)
            if known is None or known.outcome is Outcome.DUPLICATE:
                self.outcomes[row.command_id] = row

    def reach(self, control_end: int) -> None:
        """Note that the control log was read up to that offset."""
        self._control_seen = control_end >= self._control_end

    def settle(self) -> None:
        """Wake the request if everything that it waits for has arrived."""
        if self._control_seen and all(map(self._is_answered, self.ids)):
            try:
                self._loop.call_soon_threadsafe(self._done.set)
            except RuntimeError:  # the loop has ended, so nothing waits
                pass

    def _is_answered(self, command_id: str) -> bool:
        row = self.outcomes.get(command_id)
        if row is None:
            return False
        # Of a command for all partitions only one answers a duplicate.
        answers = len(self._answered[command_id])
        return row.outcome is Outcome.DUPLICATE or answers >= self._partitions

    async def wait(self, within: float) -> bool:
        """Returns True once everything has arrived, False after `within` seconds."""
        try:
            async with asyncio.timeout(within):
                await self._done.wait()
        except TimeoutError:
            return False
        return True
