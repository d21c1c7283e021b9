"""From the log to the state that it describes."""

import logging
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

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
    offsets: OffsetStore = field(default_factory=OffsetStore)
    groups: dict[str, GroupRecord] = field(default_factory=dict)
    next_position: int = 0


def load_state(state: "StateLog") -> LoadedState:
    """Everything that the log says, with transactions that lack their marker still open.

    A record that cannot be read is reported and passed over: the other groups go on.
    """
    loaded = LoadedState()
    for record in state.replay():
        position, loaded.next_position = loaded.next_position, loaded.next_position + 1
        try:
            _apply(loaded, record, position)
        except ValueError as error:
            log.warning("A record of group state is passed over: it is %s", error)
    return loaded


def _apply(loaded: LoadedState, record: "StateRecord", position: int) -> None:
    if record.control is not None:
        loaded.offsets.complete(record.producer_id, commit=record.control == "commit")
        return
    key = None if record.key is None else decode_key(bytes(record.key))
    if isinstance(key, OffsetKey):
        _apply_offset(loaded.offsets, key, record, position)
    elif isinstance(key, GroupKey):
        if record.value is None:
            loaded.groups.pop(key.group_id, None)
        else:
            loaded.groups[key.group_id] = decode_group(bytes(record.value))


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
