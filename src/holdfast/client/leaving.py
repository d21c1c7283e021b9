"""Closing a member of a consumer group without librdkafka's hang.

`rd_kafka_consumer_close` can hang if an assignment arrives while it closes (librdkafka issue 4884):
it waits inside the callback and holds the interpreter's lock, so no other thread runs. An
unsubscribed consumer gets no assignment, so we unsubscribe first, serve pending callbacks, and
close only then.
"""

from collections.abc import Mapping
from time import monotonic
from typing import Any

from confluent_kafka import Consumer, KafkaException

SERVE_SECONDS = 10.0
"""The limit for serving callbacks. Partitions are given up locally, without a broker."""
_BATCH, _POLL_SECONDS = 1_000, 0.01


def close_member(consumer: Consumer, config: Mapping[str, Any]) -> None:
    """For a consumer that has subscribed: give up its partitions, leave the group, and close. The
    callbacks of a revocation run here.

    A static member (`group.instance.id` in its `config`) keeps its membership, so it must not
    unsubscribe. It only serves callbacks that have arrived before it closes. So it can still hang
    if the group rebalances at that moment, unless a newer member has fenced it.
    """
    static = bool(config.get("group.instance.id"))
    try:
        if not static:
            consumer.unsubscribe()
        deadline = monotonic() + SERVE_SECONDS
        # A callback may be queued behind messages, so those are taken until there are none.
        while monotonic() < deadline and (
            consumer.consume(_BATCH, _POLL_SECONDS) or (not static and consumer.assignment())
        ):
            pass
    except KafkaException:
        pass  # for example a fenced member: it is closed anyway
    finally:
        consumer.close()
