"""Topics as lines, with their content and their flow."""

from dataclasses import dataclass

from holdfast.access.tokens import TOKENS_TOPIC
from holdfast.client.positions import Offsets
from holdfast.client.topics import Topic, Topics
from holdfast.control.records import ROLES, TopicRole, topic_of
from holdfast.dashboard.page_request import PageRequest
from holdfast.errors import NotFoundError
from holdfast.flows.names import REGISTRY_TOPIC
from holdfast.flows.quality import QUALITY_TOPIC
from holdfast.flows.redriven import REDRIVEN_TOPIC
from holdfast.flows.registry import FlowDefinition
from holdfast.flows.reports import REPORTS_TOPIC
from holdfast.flows.runs import RUNS_TOPIC

CONTENTS = {
    "events": "incoming events",
    "held": "held events",
    "processed": "processed events",
    "dlq": "dead letters",
    "control": "commands",
    "journal": "outcomes of commands",
    "status": "states of keys",
}
_SHARED_TOPICS = {
    REGISTRY_TOPIC: "definitions of flows",
    REPORTS_TOPIC: "health reports of the pipeline",
    RUNS_TOPIC: "runs and their progress",
    REDRIVEN_TOPIC: "redriven dead letters",
    QUALITY_TOPIC: "quality reports",
    TOKENS_TOPIC: "hashed tokens",
}


@dataclass(frozen=True, slots=True)
class TopicLine:
    topic: Topic
    flow: str
    meaning: str
    records: int
    end: int


def flow_of_topic(request: PageRequest, topic: str) -> tuple[FlowDefinition, TopicRole]:
    """The flow and the role of a topic. Topics without a flow cannot be browsed: only flows define
    which values an actor may see."""
    for view in request.flows():
        for role in ROLES:
            if topic_of(view.names, role) == topic:
                return view.definition, role
    raise NotFoundError(
        f"The topic {topic!r} belongs to no flow. Only topics of flows can be browsed here."
    )


def topic_lines(request: PageRequest) -> list[TopicLine]:
    owners = {
        topic_of(view.names, role): (view.name, CONTENTS[role])
        for view in request.flows()
        for role in ROLES
    }
    topics = Topics(request.services.connection).list()
    sizes = Offsets(request.services.connection).sizes({t.name: t.partitions for t in topics})
    lines = [
        TopicLine(
            topic,
            *owners.get(topic.name, ("", _SHARED_TOPICS.get(topic.name, ""))),
            *sizes[topic.name],
        )
        for topic in topics
    ]
    return sorted(lines, key=lambda line: (not line.flow, line.flow, line.topic.name))
