"""Parses an Arroyo consumer configuration into our settings and those of librdkafka."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

Start = Literal["earliest", "latest", "error"]

_STARTS: dict[Any, Start] = {
    "smallest": "earliest", "earliest": "earliest", "beginning": "earliest",
    "largest": "latest", "latest": "latest", "end": "latest",
    "error": "error",
}  # fmt: skip

_BOOLEANS = {"true": True, "t": True, "1": True, "false": False, "f": False, "0": False}


@dataclass(frozen=True, slots=True)
class KafkaSettings:
    """The parsed form of a configuration from `build_kafka_consumer_configuration`.

    `start` is where a partition without a committed offset begins. `incremental` is True if
    rebalances add and remove partitions instead of replacing the assignment.
    """

    librdkafka: dict[str, Any]
    group_id: str | None
    start: Start
    incremental: bool
    auto_commit: bool

    @classmethod
    def of(cls, configuration: Mapping[str, Any]) -> "KafkaSettings":
        """Parse a configuration. Raises `ValueError` if it cannot work, as Arroyo's consumer."""
        config = dict(configuration)
        strict = config.pop("arroyo.strict.offset.reset", None)
        auto_commit = _boolean(config.pop("arroyo.enable.auto.commit", False))
        reset = config.get("auto.offset.reset", "largest")
        if reset not in _STARTS:
            raise ValueError(
                f"'auto.offset.reset' cannot be {reset!r}: use earliest, latest or error"
            )
        if auto_commit:
            # `stage_offsets` stores the offsets that librdkafka commits.
            config["enable.auto.commit"] = True
            config["enable.auto.offset.store"] = False
        else:
            for name in ("enable.auto.commit", "enable.auto.offset.store"):
                if _boolean(config.get(name, "true")):
                    raise ValueError(
                        f"{name!r} must be set to false: the processor commits offsets"
                    )
        # Each assignment sets start offsets. A position that is out of range later raises an error
        # instead of a silent jump, unless the configuration asks for the jump.
        config["auto.offset.reset"] = reset if strict is False else "error"
        # By default librdkafka waits a second after a full queue, which starves a loop that empties
        # the queue sooner.
        config.setdefault("fetch.queue.backoff.ms", 10)
        assignors = str(config.get("partition.assignment.strategy", ""))
        return cls(
            librdkafka=config,
            group_id=config.get("group.id"),
            start=_STARTS[reset],
            incremental=config.get("group.protocol") == "consumer" or "cooperative" in assignors,
            auto_commit=auto_commit,
        )


def _boolean(value: Any) -> bool:
    try:
        return _BOOLEANS[str(value).lower()]
    except KeyError:
        raise ValueError(f"{value!r} is neither true nor false") from None
