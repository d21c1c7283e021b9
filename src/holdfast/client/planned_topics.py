"""Topics that Holdfast itself needs: created with their settings, or checked."""

from holdfast.client.cluster import describe_cluster
from holdfast.client.connection import Connection
from holdfast.client.topics import Topics
from holdfast.errors import AlreadyExistsError, ConflictError
from holdfast.flows.topics import TopicPlan, table_topic


def make_topic(topics: Topics, plan: TopicPlan) -> None:
    """Create the topic. An existing one must fit, and gets the settings."""
    try:
        topics.create(
            plan.name,
            partitions=plan.partitions,
            replication=plan.replication,
            config=plan.config,
        )
    except AlreadyExistsError:
        existing = topics.describe(plan.name).partitions
        if existing != plan.partitions:
            raise ConflictError(
                f"The topic {plan.name!r} exists with {existing} partitions, and {plan.partitions} "
                "are needed. For a flow: choose another name or this number. Otherwise: delete it."
            ) from None
        topics.set_config(plan.name, plan.config)


def make_table(connection: Connection, name: str) -> None:
    """Create a compacted topic of one partition."""
    make_topic(Topics(connection), table_topic(name, len(describe_cluster(connection).brokers)))
