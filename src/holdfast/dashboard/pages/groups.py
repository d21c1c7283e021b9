"""Consumer groups as lines, most lag first."""

from dataclasses import dataclass

from holdfast.client.groups import Group, Groups
from holdfast.dashboard.page_request import PageRequest
from holdfast.errors import HoldfastError

_MAX_GROUPS = 100
"""The maximum number of groups that are described."""


@dataclass(frozen=True, slots=True)
class GroupLine:
    """One group of the list; without details if they are unavailable."""

    name: str
    state: str
    group: Group | None
    trouble: str = ""

    @property
    def topics(self) -> tuple[str, ...]:
        return tuple(sorted({lag.topic for lag in self.group.lag})) if self.group else ()

    @property
    def seconds(self) -> float | None:
        """The age of the oldest record that is not committed."""
        known = [lag.seconds for lag in self.group.lag if lag.seconds] if self.group else []
        return max(known, default=None)


def group_lines(request: PageRequest, flow: str) -> list[GroupLine]:
    groups = Groups(request.services.connection)
    lines = []
    for listed in sorted(groups.list(), key=lambda one: one.name)[:_MAX_GROUPS]:
        try:
            line = GroupLine(listed.name, listed.state, groups.describe(listed.name))
        except HoldfastError as error:  # deleted meanwhile, or its coordinator is away
            line = GroupLine(listed.name, listed.state, None, str(error))
        if not flow or any(topic.startswith(f"{flow}.") for topic in line.topics):
            lines.append(line)
    return sorted(lines, key=lambda line: -((line.group and line.group.total_lag) or 0))
