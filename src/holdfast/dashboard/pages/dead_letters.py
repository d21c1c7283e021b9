"""Dead letters: their number in each flow, and their reasons."""

from dataclasses import dataclass

from holdfast.client.positions import Offsets
from holdfast.control.dead_letters import LetterGroup, letter_groups
from holdfast.dashboard.page_request import PageRequest
from holdfast.dashboard.pages.messages import MessageFilter
from holdfast.views.flow_view import FlowView


@dataclass(frozen=True, slots=True)
class Reason:
    """A group of letters, with the address that shows them alone."""

    group: LetterGroup
    address: str
    chosen: bool


@dataclass(frozen=True, slots=True)
class Reasons:
    """The reasons of the newest letters."""

    found: tuple[Reason, ...]
    looked_at: int
    more: bool
    """There are older letters that were not counted."""


def dead_letter_reasons(request: PageRequest, view: FlowView, chosen: MessageFilter) -> Reasons:
    groups = letter_groups(request.services.connection, view.definition, request.actor)
    reasons = []
    for group in groups.groups:
        is_chosen = (chosen.reason, chosen.message) == (group.reason, group.pattern)
        reason, message = ("", "") if is_chosen else (group.reason, group.pattern)
        address = chosen.address(reason=reason, message=message, cursor="", event="")
        reasons.append(Reason(group, address, is_chosen))
    return Reasons(tuple(reasons), groups.looked_at, bool(groups.stopped_early))


def dead_letter_counts(request: PageRequest, views: list[FlowView]) -> dict[str, int]:
    """The number of offsets in each flow's topic of dead letters. Transaction markers count as
    well, so only a zero is exact."""
    topics = {view.names.dlq: view.definition.partitions for view in views}
    sizes = Offsets(request.services.connection).sizes(topics)
    return {view.name: sizes[view.names.dlq][0] for view in views}
