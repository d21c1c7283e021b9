"""Reads the coordinator's state from its log."""

import logging
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from holdfast.broker.groups.consumer.loading import ConsumerParts
from holdfast.broker.groups.consumer.records import ConsumerKey
from holdfast.broker.groups.consumer.records import decode_key as decode_consumer_key
from holdfast.broker.groups.consumer.storing import Kind
from holdfast.broker.groups.offsets import OffsetStore
from holdfast.broker.groups.records import (
    GroupKey,
    GroupRecord,
    OffsetKey,
    decode_group,
    decode_key,
    decode_offset,
)

if TYPE_CHECKING:
    from holdfast.broker.state_log import StateLog, StateRecord

log = logging.getLogger(__name__)


@dataclass(slots=True)
class LoadedState:
    """Groups and offsets as the log has them."""

    offsets: OffsetStore = field(default_factory=OffsetStore)
    groups: dict[str, GroupRecord] = field(default_factory=dict)
    consumer_groups: dict[str, ConsumerParts] = field(default_factory=dict)
    next_position: int = 0


def load_state(state: "StateLog") -> LoadedState:
    """Reads the whole log. Transactions without a marker stay open.

    An unreadable record is reported and skipped, so the other groups work.
    """
    loaded = LoadedState()
    for record in state.replay():
        position, loaded.next_position = loaded.next_position, loaded.next_position + 1
        try:
            _apply(loaded, record, position)
        except ValueError as error:
            log.warning("A record of group state was skipped: it is %s", error)
    loaded.consumer_groups = {
        group_id: parts for group_id, parts in loaded.consumer_groups.items() if parts.exists
    }
    return loaded


def _apply(loaded: LoadedState, record: "StateRecord", position: int) -> None:
    if record.control is not None:
        loaded.offsets.complete(record.producer_id, commit=record.control == "commit")
        return
    raw = bytes(record.key or b"")
    key = decode_key(raw) or decode_consumer_key(int.from_bytes(raw[:2], "big"), raw)
    if isinstance(key, OffsetKey):
        _apply_offset(loaded.offsets, key, record, position)
    elif isinstance(key, GroupKey):
        if record.value is None:
            loaded.groups.pop(key.group_id, None)
        else:
            loaded.groups[key.group_id] = decode_group(bytes(record.value))
            # A conversion whose deletions were never written: the later kind counts.
            loaded.consumer_groups.pop(key.group_id, None)
    elif isinstance(key, ConsumerKey):
        _apply_consumer(loaded, key, None if record.value is None else bytes(record.value))


def _apply_consumer(loaded: LoadedState, key: ConsumerKey, value: bytes | None) -> None:
    parts = loaded.consumer_groups.setdefault(key.group_id, ConsumerParts())
    parts.apply(key, value)
    if key.kind is Kind.GROUP and value is not None:
        loaded.groups.pop(key.group_id, None)


def _apply_offset(
    offsets: OffsetStore, key: OffsetKey, record: "StateRecord", position: int
) -> None:
    if record.value is None:
        offsets.delete(key.group_id, [key.at], position)
        return
    committed = {key.at: decode_offset(bytes(record.value))}
    if record.transactional:
        offsets.hold(record.producer_id, key.group_id, committed, position)
    else:
        offsets.commit(key.group_id, committed, position)
