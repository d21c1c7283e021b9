"""Topics that Holdfast itself needs: made with their settings, or seen to fit."""

from holdfast.client.cluster import describe_cluster
from holdfast.client.connection import Connection
from holdfast.client.topics import Topics
from holdfast.errors import AlreadyExistsError, ConflictError
from holdfast.flows.topics import TopicPlan, table_topic


def make_topic(topics: Topics, plan: TopicPlan) -> None:
    """Make the topic; one that is there already must fit, and gets the settings."""
    try:
        topics.create(
            plan.name,
            partitions=plan.partitions,
            replication=plan.replication,
            config=plan.config,
        )
    except AlreadyExistsError:
        found = topics.describe(plan.name).partitions
        if found != plan.partitions:
            raise ConflictError(
                f"The topic {plan.name!r} exists with {found} partitions, and {plan.partitions} "
                "are needed. Of a flow: name another, or give it that many. Else: delete the topic."
            ) from None
        topics.set_config(plan.name, plan.config)


def make_table(connection: Connection, name: str) -> None:
    """Make the compacted topic of one partition."""
    make_topic(Topics(connection), table_topic(name, len(describe_cluster(connection).brokers)))
