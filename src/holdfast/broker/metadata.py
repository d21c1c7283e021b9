"""The broker's metadata, in one small file that is replaced as a whole.

It has the topics with their ids, partition counts and settings, the cluster's id, and the next
producer id. A change is durable when `save` returns.
"""

import asyncio
import base64
import json
import uuid
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from holdfast.broker.log.files import replace_file
from holdfast.broker.work import Work
from holdfast.errors import DataDirectoryError

FILE_NAME = "metadata.json"
FORMAT = 1
PRODUCER_ID_BLOCK = 1_000
"""Ids reserved by one write of the file."""


@dataclass(frozen=True, slots=True)
class TopicRecord:
    """A topic in the file."""

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
    """Deleted topics whose files may still exist: a crash must not bring them back."""
    _producer_id: int = field(init=False)
    _turn: "asyncio.Future[None] | None" = field(init=False, default=None)
    """The contents are being changed and saved on a thread. Other changes wait for it."""

    @classmethod
    def load(cls, data_dir: Path) -> "Metadata":
        path = data_dir / FILE_NAME
        try:
            document = json.loads(path.read_bytes())
        except FileNotFoundError:
            _check_is_new(data_dir)
            return cls(path, _new_cluster_id())
        except (OSError, ValueError, RecursionError) as error:
            raise _unreadable(path, error) from None
        if not isinstance(document, dict):
            raise _unreadable(path, "it is not a JSON object")
        written_in = document.get("format")
        if written_in != FORMAT:
            raise DataDirectoryError(
                f"{path} has format {written_in}, and this version reads {FORMAT}. "
                "Another version of Holdfast has written it: run that version."
            )
        try:
            return cls(
                path,
                _checked(document["cluster_id"], str),
                max(0, _checked(document["next_producer_id"], int)),
                _topics(document["topics"]),
                _topics(document["deleting"]),
            )
        except KeyError as error:
            raise _unreadable(path, f"it has no {error}") from None
        except (TypeError, ValueError) as error:
            raise _unreadable(path, error) from None

    def take_producer_id(self) -> int:
        """A producer id that was never used before.

        The file is a block of ids ahead, so a crash skips ids but repeats none.
        """
        if self._producer_id == self.next_producer_id:
            if self._turn is not None:
                raise BlockingIOError(f"{self.path} is being written")
            self._save_more_ids()
        taken = self._producer_id
        self._producer_id += 1
        return taken

    async def reserve_producer_ids(self, count: int) -> None:
        """Reserves at least `count` ids for this step of the event loop; raises OSError."""
        while self.next_producer_id - self._producer_id < count:
            if self._turn is not None:
                await asyncio.wait([self._turn])
                continue
            self._turn = asyncio.get_running_loop().create_future()
            try:
                await asyncio.to_thread(self._save_more_ids)
            finally:
                self.end_turn()

    def _save_more_ids(self) -> None:
        before = self.next_producer_id
        self.next_producer_id += PRODUCER_ID_BLOCK
        try:
            self.save()
        except OSError:
            self.next_producer_id = before
            raise

    def wait_for_turn(self) -> Work[None]:
        """Waits for the right to change the contents until `end_turn`. A thread may save them."""
        while self._turn is not None:
            yield self._turn
        self._turn = asyncio.get_running_loop().create_future()

    def end_turn(self) -> None:
        turn, self._turn = self._turn, None
        assert turn is not None
        turn.set_result(None)

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


def _unreadable(path: Path, reason: object) -> DataDirectoryError:
    return DataDirectoryError(
        f"{path} cannot be read: {reason}. Without it the broker does not know its topics; "
        "restore the file from a backup, or use another data directory."
    )


def _check_is_new(data_dir: Path) -> None:
    """Refuses a directory with records but without metadata: they would be removed as leftovers."""
    partition = next((p.parent.name for p in data_dir.glob("*-[0-9]*/*.log")), None)
    if partition is not None:
        raise DataDirectoryError(
            f"{data_dir / FILE_NAME} is missing, and {partition} has records. Without the file the "
            "broker does not know its topics; restore it from a backup, or use another data "
            "directory."
        )


T = TypeVar("T")


def _checked(value: object, kind: type[T]) -> T:
    if not isinstance(value, kind) or isinstance(value, bool):
        raise ValueError(f"{value!r} is not of type {kind.__name__}")
    return value


def _topics(documents: object) -> dict[str, TopicRecord]:
    records = [_topic(_checked(document, dict)) for document in _checked(documents, list)]
    return {record.name: record for record in records}


def _topic(document: dict[str, object]) -> TopicRecord:
    overrides = _checked(document["overrides"], dict)
    return TopicRecord(
        _checked(document["name"], str),
        uuid.UUID(_checked(document["id"], str)),
        _checked(document["partitions"], int),
        {_checked(name, str): _checked(value, str) for name, value in overrides.items()},
    )


def _document(topic: TopicRecord) -> dict[str, object]:
    return {
        "name": topic.name,
        "id": str(topic.id),
        "partitions": topic.partitions,
        "overrides": topic.overrides,
    }
