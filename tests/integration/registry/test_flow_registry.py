"""The registry of flows is followed as it changes, whatever the broker does meanwhile."""

from dataclasses import replace
from pathlib import Path
from time import monotonic

from tests.brokers import BrokerProcess, EmbeddedBroker
from tests.clients import producer, send, wait_until

import holdfast
from holdfast.client.connection import Connection
from holdfast.client.flow_registry import FlowRegistry
from holdfast.client.settings import ClientSettings
from holdfast.flows.names import REGISTRY_TOPIC
from holdfast.flows.registry import encode_flow


def follow(broker: BrokerProcess) -> FlowRegistry:
    return FlowRegistry(Connection(ClientSettings(bootstrap=broker.bootstrap)))


def names(registry: FlowRegistry) -> list[str]:
    registry.poll(0.1)
    return sorted(registry.flows)


def test_registry_follows_changes_and_skips_unreadable_records(
    fresh_kafka: BrokerProcess,
) -> None:
    registry = follow(fresh_kafka)
    wait_until(lambda: names(registry) == [] and registry.complete, "no registry yet")
    begun = monotonic()
    registry.poll(0.2)
    assert monotonic() - begun >= 0.2  # a loop over it does not spin
    with holdfast.connect(fresh_kafka.bootstrap) as client:
        # On a broker that makes topics by itself it would have the wrong settings.
        assert REGISTRY_TOPIC not in [topic.name for topic in client.topics.list()]
    with holdfast.connect(fresh_kafka.bootstrap) as client:
        client.flow("a").create(partitions=1)
        client.flow("b").create(partitions=2)
        wait_until(lambda: names(registry) == ["a", "b"], "both flows")
        changed = replace(registry.flows["b"], schema="id INT")
    writer = producer(fresh_kafka)
    send(writer, REGISTRY_TOPIC, [b"not a flow"], key=b"a")
    key, value = encode_flow(changed)
    send(writer, REGISTRY_TOPIC, [value], key=key)
    wait_until(lambda: names(registry) and registry.flows["b"].schema == "id INT", "the change")
    assert registry.flows["a"].partitions == 1
    send(writer, REGISTRY_TOPIC, [None], key=b"a")
    wait_until(lambda: names(registry) == ["b"], "its end")
    registry.close()


def test_registry_stays_as_it_is_while_a_broker_is_away(tmp_path: Path) -> None:
    broker = EmbeddedBroker(tmp_path)
    with broker:
        with holdfast.connect(broker.bootstrap) as client:
            client.flow("a").create(partitions=1)
        broker.kill()
        registry = follow(broker)
        registry.poll(0.2)
        assert not registry.complete, "nobody knows yet which flows there are"
        broker.start()
        wait_until(lambda: names(registry) == ["a"] and registry.complete, "the flow")
        broker.kill()
        assert names(registry) == ["a"]
        broker.start()
        with holdfast.connect(broker.bootstrap) as client:
            client.flow("b").create(partitions=1)
        wait_until(lambda: names(registry) == ["a", "b"], "the second flow")
        registry.close()
