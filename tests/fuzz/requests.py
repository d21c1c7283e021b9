"""Requests of every API and version: well-formed, and made of words that lead handlers far."""

import random
from typing import Any

from tests.frames import request_frame
from tests.unit.wire.protocol.samples import Sampler
from tests.wire import batch
from tools.codec_generator.definitions import Field, Message
from tools.generate_codecs import messages

from holdfast.wire.protocol.apis import APIS, Api

TOPICS = ("fuzz-a", "fuzz-b", "fuzz-c", "__consumer_offsets", "__transaction_state", "", "bad/name")
GROUPS = ("fuzz-group-a", "fuzz-group-b", "")
TRANSACTIONS = ("fuzz-tx-a", "fuzz-tx-b", "")
WORDS = {
    "group": GROUPS,
    "group_id": GROUPS,
    "transactional_id": TRANSACTIONS,
    "v3_and_below_transactional_id": TRANSACTIONS,
    "key": (*GROUPS, *TRANSACTIONS, "request_percentage", "no_such_rate"),
    "name": (
        *TOPICS,
        "range",
        "roundrobin",
        "cleanup.policy",
        "retention.ms",
        "consumer.session.timeout.ms",
    ),
    "topic": TOPICS,
    "topic_name": TOPICS,
    "resource_name": (*TOPICS, *GROUPS, "0", "1"),
    "protocol_type": ("consumer", "connect", ""),
    "entity_type": ("user", "client-id", "ip", ""),
    "entity_name": ("fuzz", "alice", ""),
    "match": ("fuzz", "alice", ""),
    "value": ("compact", "delete", "-1", "1000", "no number"),
}
# Small numbers meet something that exists. Waits are short, or a round would be nothing but one.
NUMBERS = {
    "int8": (0, 1, 2, 3, -1, 127),
    "int16": (0, 1, 2, -1, 32767, -32768),
    "int32": (0, 1, 2, 3, 10, 100, -1, 2**31 - 1, -(2**31)),
    "int64": (0, 1, 2, 1000, -1, -2, 2**63 - 1, -(2**63)),
}
SHORT_WAITS = (0, 1, 100, 6_000, -1)


class Requests:
    """An endless supply of frames, the same for the same source of randomness."""

    def __init__(self) -> None:
        found = [message for message in messages() if message.kind == "request"]
        self._messages = {message.key: message for message in found}

    def any(self, source: random.Random) -> tuple[Api, int, bytes]:
        """A request of any API in any version served, without the size in front."""
        api = APIS[source.choice(sorted(self._messages))]
        version = source.randint(api.min_version, api.max_version)
        message = Words(self._messages[api.key], version, source).message()
        client_id = source.choice((None, "", "fuzz", "ä" * 20))
        correlation_id = source.randint(-(2**31), 2**31 - 1)
        frame = request_frame(
            api, version, message, correlation_id=correlation_id, client_id=client_id
        )
        return api, version, frame


class Words(Sampler):
    """Random messages, mostly made of names and numbers that mean something to the broker."""

    def __init__(self, message: Message, version: int, source: random.Random) -> None:
        super().__init__(message, version, source.random())

    def _value(self, field: Field) -> Any:
        if self._random.random() < 0.15:
            return super()._value(field)
        if field.type == "string":
            return self._random.choice(WORDS.get(field.name, ("", "fuzz")))
        if field.type in NUMBERS:
            waits = field.name.endswith("_ms") and "timestamp" not in field.name
            return self._random.choice(SHORT_WAITS if waits else NUMBERS[field.type])
        if field.type == "records":
            return memoryview(self._batch())
        return super()._value(field)

    def _batch(self) -> bytes:
        return batch(
            [self._random.randbytes(10) for _ in range(self._random.randint(1, 3))],
            producer_id=self._random.choice((-1, -1, 0, 1)),
            epoch=self._random.choice((-1, 0, 1)),
            sequence=self._random.choice((-1, 0, 1, 5)),
            transactional=self._random.random() < 0.2,
            key=self._random.choice((None, b"k")),
        )
