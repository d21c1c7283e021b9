"""A run loop for Python consumers whose pauses cannot race: a drop-in for sentry-arroyo's.

Strategies, factories, policies and types are sentry-arroyo's own.
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
