"""Receipts: what was asked a moment ago, and how far it is."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from holdfast.api.commanding import Receipt, held_anew
from holdfast.dashboard.commands import CommandRow, command_row
from holdfast.dashboard.key_name import KeyName
from holdfast.dashboard.looks import Look, outcome_look, pending_look
from holdfast.views.audit import HistoryItem, history_of
from holdfast.views.flow_view import FlowView

FOLLOWED = 20
"""Up to so many commands are followed by their ids until they are effective; of more, the answer
is awaited, and only counts are shown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReceiptView:
    """The receipt of one request, of however many keys."""

    flow: str
    rows: tuple[CommandRow, ...]
    """Those that are followed."""
    command_ids: tuple[str, ...]
    keys: int
    counts: tuple[tuple[Look, int], ...]
    """What came of them; one look for each kind of outcome."""
    refused: tuple[tuple[KeyName, str], ...]
    """Keys that were not asked for, and why."""
    extends: bool = False
    """Extensions were asked for."""
    held_anew: int = 0
    """How many of those came too late: their keys had been let go, and are held anew."""

    @property
    def waiting(self) -> bool:
        return any(row.pending for row in self.rows)


def receipt_view(
    view: FlowView, command: str, receipts: Sequence[Receipt], now: int
) -> ReceiptView:
    """What came of a request just now."""
    refused = tuple(
        (KeyName(receipt.key or b""), str(receipt.error)) for receipt in receipts if receipt.error
    )
    asked = [receipt for receipt in receipts if not receipt.error]
    if len(asked) <= FOLLOWED:
        ids = [receipt.command_id for receipt in asked]
        extends = any(receipt.extends for receipt in asked)
        return follow(view, ids, now, keys=len(receipts), refused=refused, extends=extends)
    looks = Counter(
        outcome_look(receipt.effective.outcome)
        if receipt.effective and receipt.effective.outcome
        else pending_look(command)
        for receipt in asked
    )
    return ReceiptView(
        flow=view.name,
        rows=(),
        command_ids=(),
        keys=len(receipts),
        counts=tuple(looks.most_common()),
        refused=refused[:FOLLOWED],
        held_anew=sum(receipt.held_anew for receipt in asked),
    )


def follow(
    view: FlowView,
    command_ids: Sequence[str],
    now: int,
    *,
    keys: int | None = None,
    refused: tuple[tuple[KeyName, str], ...] = (),
    extends: bool = False,
) -> ReceiptView:
    """How far the commands of these ids are."""
    items = [item for identity in command_ids if (item := _item(view, identity))]
    rows = tuple(command_row(view.name, item, now) for item in items)
    return ReceiptView(
        flow=view.name,
        rows=rows,
        command_ids=tuple(command_ids),
        keys=len(items) if keys is None else keys,
        counts=(),
        refused=refused,
        extends=extends,
        held_anew=sum(held_anew(row.outcome) for row in rows) if extends else 0,
    )


def _item(view: FlowView, command_id: str) -> HistoryItem | None:
    """The first command of that id, with its outcomes."""
    items = history_of(view.command(command_id))
    return items[-1] if items else None
