"""What the broker knows beside its logs, in one small file that is replaced as a whole.

Topics with their ids, partition counts and settings, the cluster's id, and how far producer ids
were handed out. A change is durable when `save` returns.
"""

import base64
import json
import uuid
from dataclasses import dataclass, field
from pathlib import Path

from holdfast.broker.log.files import replace_file
from holdfast.errors import DataDirectoryError

FILE_NAME = "metadata.json"
FORMAT = 1
PRODUCER_ID_BLOCK = 1_000
"""Ids reserved by one write of the file."""


@dataclass(frozen=True, slots=True)
class TopicRecord:
    """A topic as it is remembered."""

    name: str
    id: uuid.UUID
    partitions: int
    overrides: dict[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class Metadata:
    """The file's contents."""

    path: Path
    cluster_id: str
    next_producer_id: int = 0
    topics: dict[str, TopicRecord] = field(default_factory=dict)
    deleting: dict[str, TopicRecord] = field(default_factory=dict)
    """Topics that are gone, but whose files may not be: a crash must not bring them back."""
    _producer_id: int = field(init=False)

    @classmethod
    def load(cls, data_dir: Path) -> "Metadata":
        path = data_dir / FILE_NAME
        try:
            document = json.loads(path.read_bytes())
        except FileNotFoundError:
            return cls(path, _new_cluster_id())
        except (OSError, ValueError) as error:
            raise DataDirectoryError(
                f"{path} cannot be read: {error}. Without it the broker does not know its topics; "
                "bring the file back from a copy, or name another data directory."
            ) from None
        if document.get("format") != FORMAT:
            raise DataDirectoryError(
                f"{path} is of format {document.get('format')}, and this version reads {FORMAT}. "
                "It was written by another version of Holdfast: run that one."
            )
        return cls(
            path,
            document["cluster_id"],
            document["next_producer_id"],
            {t["name"]: _topic(t) for t in document["topics"]},
            {t["name"]: _topic(t) for t in document["deleting"]},
        )

    def take_producer_id(self) -> int:
        """An id that no producer had before, in this life or an earlier one.

        The file runs a block ahead of what was handed out, so a crash skips ids but repeats none.
        """
        if self._producer_id == self.next_producer_id:
            self.next_producer_id += PRODUCER_ID_BLOCK
            try:
                self.save()
            except OSError:
                self.next_producer_id = self._producer_id
                raise
        taken = self._producer_id
        self._producer_id += 1
        return taken

    def __post_init__(self) -> None:
        self._producer_id = self.next_producer_id

    def save(self) -> None:
        document = {
            "format": FORMAT,
            "cluster_id": self.cluster_id,
            "next_producer_id": self.next_producer_id,
            "topics": [_document(t) for t in self.topics.values()],
            "deleting": [_document(t) for t in self.deleting.values()],
        }
        replace_file(self.path, json.dumps(document, indent=1).encode())


def _new_cluster_id() -> str:
    return base64.urlsafe_b64encode(uuid.uuid4().bytes).rstrip(b"=").decode()


def _topic(document: dict[str, object]) -> TopicRecord:
    return TopicRecord(
        str(document["name"]),
        uuid.UUID(str(document["id"])),
        int(str(document["partitions"])),
        dict(document["overrides"]),  # type: ignore[call-overload]
    )


def _document(topic: TopicRecord) -> dict[str, object]:
    return {
        "name": topic.name,
        "id": str(topic.id),
        "partitions": topic.partitions,
        "overrides": topic.overrides,
    }
