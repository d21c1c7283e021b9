"""The saved state of a log, so that it opens without a scan."""

import json
from dataclasses import dataclass
from typing import Any

from crc32c import crc32c

from holdfast.broker.log.segment import SegmentFacts


@dataclass(frozen=True, slots=True)
class LogState:
    """A log at one moment, when all of it below `end_offset` was on disk."""

    log_start_offset: int
    end_offset: int
    has_producers: bool
    """True if there is a snapshot of producers at `end_offset`; else there were none."""
    cleaned_offset: int
    """The log is compacted below this offset."""
    segments: tuple[SegmentFacts, ...]

    def to_json(self) -> dict[str, Any]:
        return {
            "start": self.log_start_offset,
            "end": self.end_offset,
            "producers": self.has_producers,
            "cleaned": self.cleaned_offset,
            "segments": [list(facts) for facts in self.segments],
        }

    @classmethod
    def from_json(cls, document: Any) -> "LogState":
        """Raises ValueError if this is not the JSON of a state."""
        try:
            return cls(
                int(document["start"]),
                int(document["end"]),
                bool(document["producers"]),
                int(document["cleaned"]),
                tuple(SegmentFacts(*map(int, facts)) for facts in document["segments"]),
            )
        except (KeyError, TypeError, OverflowError) as error:
            raise ValueError(f"Not the state of a log: {error!r}") from None


CleanState = LogState
"""The state at a clean stop."""


def encode_clean_states(states: dict[str, LogState]) -> bytes:
    """The states at a clean stop, by partition, with a CRC: a wrong end offset would overwrite
    records."""
    partitions = {name: state.to_json() for name, state in states.items()}
    return json.dumps({"crc": _crc_of(partitions), "partitions": partitions}).encode()


def decode_clean_states(data: bytes) -> dict[str, LogState]:
    """Reads the output of `encode_clean_states`; raises ValueError if it is damaged."""
    document = json.loads(data)
    partitions = document.get("partitions") if isinstance(document, dict) else None
    if not isinstance(partitions, dict) or document.get("crc") != _crc_of(partitions):
        raise ValueError("it does not match its CRC")
    return {name: LogState.from_json(state) for name, state in partitions.items()}


def _crc_of(document: Any) -> int:
    return int(crc32c(json.dumps(document, sort_keys=True).encode()))


def encode_checkpoint(state: LogState) -> bytes:
    """A state with its CRC before it."""
    body = json.dumps(state.to_json()).encode()
    return b"%08x\n" % crc32c(body) + body


def decode_checkpoint(data: bytes) -> LogState | None:
    """The state in a checkpoint; None if it is damaged."""
    crc, _, body = data.partition(b"\n")
    if crc != b"%08x" % crc32c(body):
        return None
    try:
        return LogState.from_json(json.loads(body))
    except ValueError:
        return None
