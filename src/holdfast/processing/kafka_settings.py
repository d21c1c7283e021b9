"""What an Arroyo consumer configuration asks for, taken apart from what librdkafka is told."""

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
    """A configuration as `build_kafka_consumer_configuration` makes it, understood.

    `start` is where a partition without a committed offset begins. `incremental` is whether
    rebalances add and remove partitions instead of replacing the assignment.
    """

    librdkafka: dict[str, Any]
    group_id: str | None
    start: Start
    incremental: bool
    auto_commit: bool

    @classmethod
    def of(cls, configuration: Mapping[str, Any]) -> "KafkaSettings":
        """Raises `ValueError` for what cannot work, as Arroyo's consumer does."""
        config = dict(configuration)
        strict = config.pop("arroyo.strict.offset.reset", None)
        auto_commit = _boolean(config.pop("arroyo.enable.auto.commit", False))
        reset = config.get("auto.offset.reset", "largest")
        if reset not in _STARTS:
            raise ValueError(
                f"'auto.offset.reset' cannot be {reset!r}: use earliest, latest or error"
            )
        if auto_commit:
            # Which offsets are stored, and so committed, is up to `stage_offsets`.
            config["enable.auto.commit"] = True
            config["enable.auto.offset.store"] = False
        else:
            for name in ("enable.auto.commit", "enable.auto.offset.store"):
                if _boolean(config.get(name, "true")):
                    raise ValueError(
                        f"{name!r} must be set to false: the processor commits offsets"
                    )
        # Start offsets are given with each assignment. A position that is out of range later is
        # an error, not a silent jump, unless the configuration asks for the jump.
        config["auto.offset.reset"] = reset if strict is False else "error"
        # librdkafka's own second between fetches of a full queue starves a loop that empties it
        # sooner.
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
