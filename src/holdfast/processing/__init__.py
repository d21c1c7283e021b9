"""A run loop for Python consumers whose pauses cannot race: a drop-in for sentry-arroyo's.

Strategies, factories, policies and types are sentry-arroyo's own.

| module | content |
|---|---|
| `commits` | commits the offsets that the strategies have finished, as the policy allows |
| `dead_letters` | sends invalid messages to the dead-letter producer, up to a limit |
| `fetcher` | reads messages from librdkafka in batches and returns them one by one |
| `kafka_consumer` | Arroyo's consumer interface on confluent-kafka, with batched reads |
| `kafka_settings` | parses an Arroyo consumer configuration |
| `metrics` | the loop's metrics, under sentry-arroyo's names, sent once a second |
| `partition_buffer` | fetched messages of one partition that were not returned yet |
| `pauses` | pauses of partitions, by owner |
| `processor` | the run loop |
| `stall` | logs all stacks if a loop hangs |
| `synchronized` | a consumer that stays behind other consumer groups |
| `values` | faster versions of Arroyo's `Partition` and `BrokerValue` |
"""

try:
    import arroyo as _arroyo  # noqa: F401
except ModuleNotFoundError as error:
    if error.name != "arroyo":
        raise
    raise ModuleNotFoundError(
        "holdfast.processing needs sentry-arroyo, which is not installed. "
        "Install Holdfast with its extra: pip install 'holdfast[processing]'.",
        name="arroyo",
    ) from None

from holdfast.processing.dead_letters import DlqLimitExceededError
from holdfast.processing.kafka_consumer import KafkaConsumer
from holdfast.processing.processor import InvalidStateError, StreamProcessor
from holdfast.processing.synchronized import SynchronizedConsumer

__all__ = [
    "DlqLimitExceededError",
    "InvalidStateError",
    "KafkaConsumer",
    "StreamProcessor",
    "SynchronizedConsumer",
]
