"""Collects the records of a consumer group at start."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from holdfast.broker.groups.consumer import records
from holdfast.broker.groups.consumer.assignment import Assignment
from holdfast.broker.groups.consumer.member import ConsumerMember
from holdfast.broker.groups.consumer.records import ConsumerKey, CurrentRecord
from holdfast.broker.groups.consumer.storing import Kind


@dataclass(slots=True)
class ConsumerParts:
    """The records of one group, in any order: compaction keeps the last one of each key."""

    exists: bool = False
    epoch: int = 0
    fingerprint: int = 0
    target_epoch: int = 0
    members: dict[str, ConsumerMember] = field(default_factory=dict)
    targets: dict[str, Assignment] = field(default_factory=dict)
    currents: dict[str, CurrentRecord] = field(default_factory=dict)
    patterns: dict[str, frozenset[str]] = field(default_factory=dict)

    def apply(self, key: ConsumerKey, value: bytes | None) -> None:
        """Raises MalformedMessage."""
        name = key.name
        match key.kind:
            case Kind.GROUP:
                self.exists = value is not None
                self.epoch, self.fingerprint = records.decode_group(value) if value else (0, 0)
            case Kind.TARGET_EPOCH:
                self.target_epoch = records.decode_target_epoch(value) if value else 0
            case Kind.MEMBER:
                _set(self.members, name, value and records.decode_member(name, value))
            case Kind.TARGET:
                _set(self.targets, name, None if value is None else records.decode_target(value))
            case Kind.CURRENT:
                _set(self.currents, name, value and records.decode_current(value))
            case Kind.PATTERN:
                topics = None if value is None else records.decode_pattern(value)
                _set(self.patterns, name, topics)

    def complete_members(self) -> Iterator[ConsumerMember]:
        for member in self.members.values():
            current = self.currents.get(member.member_id)
            if current is None:
                yield member
            else:
                yield replace(
                    member,
                    epoch=current.epoch,
                    previous_epoch=current.previous_epoch,
                    state=current.state,
                    assigned=current.assigned,
                    revoking=current.revoking,
                )


def _set(parts: dict, name: str, value: object) -> None:  # type: ignore[type-arg]
    if value is None:
        parts.pop(name, None)
    else:
        parts[name] = value
