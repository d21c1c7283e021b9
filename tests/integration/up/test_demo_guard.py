"""The demo's guard: a customer fails, waits, and comes through."""

from threading import Thread

import pytest
from tests.brokers import EmbeddedBroker
from tests.clients import wait_until
from tests.conftest import unique_name

import holdfast
from holdfast.up import demo_guard
from holdfast.up.demo_guard import FlakyPartner, create_guard, make_guard

DEADLINE_S = 60.0


def test_customer_whom_the_partner_refuses_waits_and_comes_through(
    embedded_broker: EmbeddedBroker,
) -> None:
    name = unique_name("billing").lower()
    topic = f"{name}-payments"
    with holdfast.connect(embedded_broker.bootstrap) as client:
        client.topics.create(topic, partitions=2)
        create_guard(client, name, topic)
        guard = make_guard(FlakyPartner(interval=1_000.0, refused_seconds=(3.0, 3.0)), name, topic)
        with holdfast.connect(embedded_broker.bootstrap) as other:
            worker = Thread(target=guard.run, args=(other,))
            worker.start()
            for number in range(30):
                client.send(topic, {"payment": number}, key=f"customer-{number % 3}")
            billing = client.flow(name)
            wait_until(lambda: list(billing.held()), "a customer who waits", DEADLINE_S)
            (status,) = billing.held()
            assert status.entries[0][1].attempts > 0
            wait_until(lambda: not list(billing.held()), "all came through", DEADLINE_S)
            guard.stop()
            worker.join(DEADLINE_S)
            assert not worker.is_alive()
        assert not list(client.consumer(f"{name}.dlq").records(until="end"))


def test_demo_takes_no_events_of_a_guard_that_someone_else_has_created(
    embedded_broker: EmbeddedBroker, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = unique_name("billing").lower()
    monkeypatch.setattr(demo_guard, "create_guard", lambda client: create_guard(client, name))
    monkeypatch.setattr(demo_guard, "make_guard", lambda partner: make_guard(partner, name))
    with holdfast.connect(embedded_broker.bootstrap) as client:
        for topic in (f"{name}-orders", demo_guard.TOPIC):
            client.topics.create(topic, partitions=1)
        client.flow(name).create_guard(f"{name}-orders")
        codes: list[int] = []
        stranger = Thread(
            target=lambda: codes.append(demo_guard.run(embedded_broker.bootstrap)), daemon=True
        )
        stranger.start()
        stranger.join(DEADLINE_S)
        client.topics.delete(demo_guard.TOPIC)
    assert codes == [demo_guard.NAME_TAKEN]
