"""Ids and configs of topics, which a gate checks before each step, from both brokers."""

import gc
from concurrent.futures import ThreadPoolExecutor

import pytest
from confluent_kafka import TopicCollection, Uuid
from confluent_kafka.admin import AdminClient, NewTopic
from tests.brokers import BrokerProcess
from tests.clients import DEADLINE_S
from tests.conftest import unique_name
from tests.integration.pipeline.test_kafka_client import create, settings_of
from tests.integration.pipeline.world import World, eventually, gate_of

from holdfast.errors import NotFoundError, TransientError
from holdfast.kafka.topic_ids import TopicIds, look_up

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


def test_recreated_topic_has_a_new_id_and_a_deleted_one_none(
    kafka: BrokerProcess,
) -> None:
    name = unique_name("again")
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


def test_check_of_topics_leaks_no_client(kafka: BrokerProcess) -> None:
    """It does so before every step, for months."""

    def left() -> int:
        gc.collect()
        return sum(type(each) is Uuid for each in gc.get_objects())

    with gate_of(World(kafka, partitions=1)) as gate:
        before = left()
        for _ in range(MANY):
            gate._exclusive.guard.check()
        assert left() == before
