"""Seals: a record of each verified stretch of a flow, chained to the one before.

After a clean audit the stretch that it verified is sealed. A seal names the stretch, what was in it
and a digest of its contents, and contains the digest of the seal before. So nobody can change,
leave out or insert a seal without changing all later ones. Who wrote the digest of the last seal
down elsewhere can tell that none was changed.

The digest of a stretch is the exclusive or of the hashes of its records. So the digests of all
seals together are that of all records, in whatever stretches they were verified.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import reduce
from hashlib import sha256
from typing import Any

_FORM = "holdfast seal 1"
_BY_PARTITION = ("starts", "ends", "journal_ends")


@dataclass(frozen=True, slots=True)
class Contents:
    """Records of a log: how many, and the exclusive or of their hashes."""

    records: int
    digest: int

    def plus(self, other: "Contents") -> "Contents":
        return Contents(self.records + other.records, self.digest ^ other.digest)


@dataclass(frozen=True, slots=True, kw_only=True)
class Seal:
    """A verified stretch of a flow."""

    number: int
    """From 1 on, without a gap."""
    at: int
    """When it was verified."""
    topic_id: str
    """The id of the topic of events."""
    starts: Mapping[int, int]
    ends: Mapping[int, int]
    """Source offsets by partition: first and end (exclusive)."""
    journal_ends: Mapping[int, int]
    """The end of its records in the journal, by partition."""
    events: Contents
    journal: Contents
    totals: Mapping[str, int]
    """The counts of all coordinates up to the end of the stretch."""
    previous: str
    """The digest of the seal before; empty for the first."""

    @property
    def digest(self) -> str:
        """A digest of everything in this seal."""
        text = json.dumps([_FORM, self.document()], sort_keys=True, separators=(",", ":"))
        return sha256(text.encode()).hexdigest()

    def document(self) -> dict[str, Any]:
        """All fields, as JSON values."""
        document = asdict(self)
        for name in _BY_PARTITION:
            document[name] = {str(p): offset for p, offset in document[name].items()}
        return document

    def encode(self) -> bytes:
        return json.dumps({**self.document(), "digest": self.digest}).encode()


def decode(value: bytes) -> tuple[Seal, str]:
    """A stored seal, and the digest that it had when it was stored."""
    fields = json.loads(value)
    digest = fields.pop("digest")
    for name in _BY_PARTITION:
        fields[name] = {int(p): offset for p, offset in fields[name].items()}
    for name in ("events", "journal"):
        fields[name] = Contents(**fields[name])
    return Seal(**fields), digest


def contradictions(seals: Sequence[tuple[Seal, str]]) -> Iterator[tuple[int, str]]:
    """Numbers of the seals that do not fit the one before, or were changed, each with the reason.
    The seals are in the order of their numbers."""
    last, digest = None, ""
    for expected, (seal, stored) in enumerate(seals, start=1):
        if seal.number != expected:
            yield seal.number, f"seal {expected} is missing"
            return
        if seal.digest != stored:
            yield seal.number, "its contents are not those that were sealed"
        elif seal.previous != digest:
            yield seal.number, "it does not follow the seal before it"
        elif last is not None and last.topic_id == seal.topic_id and last.ends != seal.starts:
            yield seal.number, "it does not begin where the seal before it ends"
        last, digest = seal, stored


def contents(seals: Sequence[Seal]) -> tuple[Contents, Contents]:
    """Events and journal of all these seals together."""
    nothing = Contents(0, 0)
    return (
        reduce(Contents.plus, (seal.events for seal in seals), nothing),
        reduce(Contents.plus, (seal.journal for seal in seals), nothing),
    )
