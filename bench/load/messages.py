"""Messages into a broker and out of it again, as fast as one client can."""

import time
import uuid

from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

FLUSH_DEADLINE_S = 120.0


def new_topic(bootstrap: str, partitions: int) -> str:
    name = f"bench-{uuid.uuid4().hex[:8]}"
    admin = AdminClient({"bootstrap.servers": bootstrap})
    admin.create_topics([NewTopic(name, partitions, 1)])[name].result(30)
    return name


def drop_topic(bootstrap: str, topic: str) -> None:
    admin = AdminClient({"bootstrap.servers": bootstrap})
    admin.delete_topics([topic])[topic].result(30)


def produce(bootstrap: str, topic: str, partitions: int, value: bytes, count: int) -> float:
    """Messages a second, from the first call to the last acknowledgement.

    A message to each partition goes before: connecting, and getting a producer's id, takes a
    client's time once, and not the broker's for every message.
    """
    producer = Producer(
        {
            "bootstrap.servers": bootstrap,
            "enable.idempotence": True,
            "acks": "all",
            "linger.ms": 5,
            "queue.buffering.max.messages": 500_000,
            "queue.buffering.max.kbytes": 1_048_576,
        }
    )
    producer.list_topics(topic, 10)
    send, poll = producer.produce, producer.poll
    for partition in range(partitions):
        send(topic, value, partition=partition)
    producer.flush(FLUSH_DEADLINE_S)
    started = time.perf_counter()
    for number in range(count):
        while True:
            try:
                send(topic, value, partition=number % partitions)
                break
            except BufferError:
                poll(0.01)
        if number % 10_000 == 0:
            poll(0)
    left = producer.flush(FLUSH_DEADLINE_S)
    seconds = time.perf_counter() - started
    if left:
        raise RuntimeError(f"{left} messages were not acknowledged")
    return count / seconds


def consume(bootstrap: str, topic: str, partitions: int, count: int) -> float:
    """Messages a second, from assignment to the last message."""
    consumer = Consumer(
        {
            "bootstrap.servers": bootstrap,
            "group.id": f"bench-{time.monotonic_ns()}",
            "enable.auto.commit": False,
            "auto.offset.reset": "earliest",
            # librdkafka pauses for a second whenever its queue is full: with that, its own
            # pauses would be measured, and not the broker.
            "fetch.queue.backoff.ms": 5,
        }
    )
    consumer.list_topics(topic, 10)
    consumer.assign([TopicPartition(topic, p, 0) for p in range(partitions)])
    seen = 0
    started = time.perf_counter()
    while seen < count:
        # Asked for more than there is, it would wait for it.
        batch = consumer.consume(min(10_000, count - seen), 10)
        if not batch:
            raise RuntimeError(f"only {seen} of {count} messages came")
        seen += len(batch)
    seconds = time.perf_counter() - started
    consumer.close()
    return seen / seconds
