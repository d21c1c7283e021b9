"""Receipts: recent commands and their progress."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from holdfast.control.commands import CommandResult, held_anew
from holdfast.dashboard.commands import CommandRow, command_row
from holdfast.dashboard.key_name import KeyName
from holdfast.dashboard.state_styles import StateStyle, outcome_style, pending_style
from holdfast.views.audit import HistoryItem, history_of
from holdfast.views.flow_view import FlowView

FOLLOWED = 20
"""Up to this number of commands are followed by their ids until they are effective. Larger requests
block, and only counts are shown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReceiptView:
    """The receipt of one request, for one key or many."""

    flow: str
    rows: tuple[CommandRow, ...]
    """The commands that are followed."""
    command_ids: tuple[str, ...]
    keys: int
    counts: tuple[tuple[StateStyle, int], ...]
    """The outcomes: a style for each kind, with its number."""
    refused: tuple[tuple[KeyName, str], ...]
    """Keys that were refused, with the reason."""
    extends: bool = False
    """The request was an extension."""
    held_anew: int = 0
    """The number of extensions that came too late: their keys are held again."""
    undo: str = ""
    """Of a release: the beginning of its commands' ids, by which it can be undone."""
    still_held: int = 0
    """The number of released keys that other holds still hold."""

    @property
    def waiting(self) -> bool:
        return any(row.pending for row in self.rows)


def receipt_view(
    view: FlowView, command: str, receipts: Sequence[CommandResult], now: int, *, undo: str = ""
) -> ReceiptView:
    """The receipt of a request that was just sent."""
    refused = tuple(
        (KeyName(receipt.key or b""), str(receipt.error)) for receipt in receipts if receipt.error
    )
    requested = [receipt for receipt in receipts if not receipt.error]
    if len(requested) <= FOLLOWED:
        ids = [receipt.command_id for receipt in requested]
        extends = any(receipt.extends for receipt in requested)
        return follow(
            view, ids, now, keys=len(receipts), refused=refused, extends=extends, undo=undo
        )
    styles = Counter(
        outcome_style(receipt.effective.outcome)
        if receipt.effective and receipt.effective.outcome
        else pending_style(command)
        for receipt in requested
    )
    return ReceiptView(
        flow=view.name,
        rows=(),
        command_ids=(),
        keys=len(receipts),
        counts=tuple(styles.most_common()),
        refused=refused[:FOLLOWED],
        undo=undo,
        held_anew=sum(receipt.held_anew for receipt in requested),
        still_held=sum(
            bool(receipt.effective and receipt.effective.others)
            for receipt in requested
            if command == "release"
        ),
    )


def follow(
    view: FlowView,
    command_ids: Sequence[str],
    now: int,
    *,
    keys: int | None = None,
    refused: tuple[tuple[KeyName, str], ...] = (),
    extends: bool = False,
    undo: str = "",
) -> ReceiptView:
    """The progress of the commands with these ids."""
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
        undo=undo,
        held_anew=sum(held_anew(row.outcome) for row in rows) if extends else 0,
        still_held=sum(bool(row.remains) for row in rows),
    )


def _item(view: FlowView, command_id: str) -> HistoryItem | None:
    """The first command with this id, with its outcomes."""
    items = history_of(view.command(command_id))
    return items[-1] if items else None
