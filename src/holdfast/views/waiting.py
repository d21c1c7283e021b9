"""Those who wait for a command to be seen, or to be effective, without a consumer of their own."""

import asyncio
from collections.abc import Iterable

from holdfast.flows.journal import Outcome
from holdfast.views.audit import AuditRow


class Waiting:
    """One request that waits for outcomes of commands, and for the control log to be read so far.

    Made on an event loop; told by the thread that follows the topics, under the view's lock.
    """

    def __init__(self, command_ids: Iterable[str], control_end: int) -> None:
        self.outcomes: dict[str, AuditRow] = {}
        self.ids = frozenset(command_ids)
        self._control_end = control_end
        self._control_seen = False
        self._loop = asyncio.get_running_loop()
        self._done = asyncio.Event()

    def take(self, row: AuditRow) -> None:
        """An outcome. That of the first command of an id counts, not that of its repeats."""
        if row.command_id in self.ids and row.outcome is not None:
            known = self.outcomes.get(row.command_id)
            if known is None or known.outcome is Outcome.DUPLICATE:
                self.outcomes[row.command_id] = row

    def reach(self, control_end: int) -> None:
        """The control log was read up to that offset."""
        self._control_seen = control_end >= self._control_end

    def settle(self) -> None:
        """Wake the request if all that it waits for is there."""
        if self._control_seen and len(self.outcomes) == len(self.ids):
            try:
                self._loop.call_soon_threadsafe(self._done.set)
            except RuntimeError:  # the loop has ended, and nobody waits any more
                pass

    async def wait(self, within: float) -> bool:
        """-> whether all is there"""
        try:
            async with asyncio.timeout(within):
                await self._done.wait()
        except TimeoutError:
            return False
        return True
