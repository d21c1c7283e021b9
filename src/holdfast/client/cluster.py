"""The cluster as a whole."""

from dataclasses import dataclass

from holdfast.client.connection import Connection


@dataclass(frozen=True, slots=True)
class Broker:
    """One broker of a cluster."""

    id: int
    host: str
    port: int


@dataclass(frozen=True, slots=True)
class Cluster:
    """A cluster's identity and its brokers."""

    id: str
    controller: int | None
    brokers: tuple[Broker, ...]


def describe_cluster(connection: Connection) -> Cluster:
    """The cluster's identity and brokers, from the cluster itself."""
    answer = connection.wait(
        connection.admin.describe_cluster(request_timeout=connection.settings.request_timeout),
        "Describing the cluster",
    )
    return Cluster(
        id=answer.cluster_id,
        controller=answer.controller.id if answer.controller else None,
        brokers=tuple(
            Broker(node.id, node.host, node.port)
            for node in sorted(answer.nodes, key=lambda n: n.id)
        ),
    )
