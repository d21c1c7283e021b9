"""What is written down of a log so that opening it does not mean reading it."""

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
    """Whether a snapshot of producers at `end_offset` was written; else there were none."""
    cleaned_offset: int
    """Compaction has dealt with everything below."""
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
        except (KeyError, TypeError) as error:
            raise ValueError(f"Not the state of a log: {error!r}") from None


CleanState = LogState
"""The state that `close` leaves: the log is exactly this."""


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
