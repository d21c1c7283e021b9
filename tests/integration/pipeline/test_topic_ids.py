"""What a gate asks of its topics before each step, as both brokers tell it."""

import gc
from concurrent.futures import ThreadPoolExecutor

import pytest
from confluent_kafka import TopicCollection, Uuid
from confluent_kafka.admin import AdminClient, NewTopic
from tests.brokers import BrokerProcess
from tests.conftest import unique_name
from tests.integration.pipeline.test_bulk import create, settings_of
from tests.integration.pipeline.world import DEADLINE_S, World, eventually, gate_of

from holdfast.errors import NotFoundError, TransientError
from holdfast.pipeline.topic_ids import TopicIds, look_up

MANY = 50
"""Enough that some ids have characters that alphabets of base64 differ in."""


def test_ids_are_written_as_librdkafka_writes_them(kafka: BrokerProcess) -> None:
    """Positions and the raw zone keep them: another spelling would be another topic."""
    names = [unique_name("ids") for _ in range(MANY)]
    admin = AdminClient({"bootstrap.servers": kafka.bootstrap})
    for made in admin.create_topics([NewTopic(name, 2, 1) for name in names]).values():
        made.result(DEADLINE_S)
    told = admin.describe_topics(TopicCollection(names))
    ids = TopicIds(settings_of(kafka))
    found = ids.look_up(names)
    ids.close()
    assert {name: topic.id for name, topic in found.items()} == {
        name: str(future.result(DEADLINE_S).topic_id) for name, future in told.items()
    }
    assert {topic.partitions for topic in found.values()} == {2}
    for deleted in admin.delete_topics(names).values():
        deleted.result(DEADLINE_S)


def test_a_topic_made_anew_has_another_id_and_one_that_is_gone_has_none(
    kafka: BrokerProcess,
) -> None:
    name = unique_name("anew")
    admin = AdminClient({"bootstrap.servers": kafka.bootstrap})

    def there() -> bool:
        try:
            look_up(settings_of(kafka), name)
        except NotFoundError as error:
            assert str(error) == f"There is no topic '{name}'."  # noqa: PT017
            return False
        return True

    def make() -> str:
        admin.create_topics([NewTopic(name, 1, 1)])[name].result(DEADLINE_S)
        eventually(there, "a topic")
        return look_up(settings_of(kafka), name).id

    assert not there()
    first = make()
    admin.delete_topics([name])[name].result(DEADLINE_S)
    eventually(lambda: not there(), "a topic that is gone")
    assert make() != first


def test_a_broker_that_comes_back_in_time_is_waited_for(fresh_kafka: BrokerProcess) -> None:
    name = unique_name("back")
    create(fresh_kafka, name)
    ids = TopicIds(settings_of(fresh_kafka))
    before = ids.look_up([name])
    fresh_kafka.kill()
    with pytest.raises(TransientError):
        look_up(settings_of(fresh_kafka, seconds=0.5), name)
    with ThreadPoolExecutor(1) as pool:
        after = pool.submit(ids.look_up, [name])
        fresh_kafka.start()
        assert after.result(DEADLINE_S) == before
    ids.close()


def test_a_gate_that_looks_at_its_topics_leaves_nothing_behind(kafka: BrokerProcess) -> None:
    """It does so before every step, for months."""

    def left() -> int:
        gc.collect()
        return sum(type(each) is Uuid for each in gc.get_objects())

    with gate_of(World(kafka, partitions=1)) as gate:
        before = left()
        for _ in range(MANY):
            gate.guard.check()
        assert left() == before
