"""The files to sync before records are durable."""

import errno
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from holdfast.broker.log.directory import CHECKPOINT, write_snapshot
from holdfast.broker.log.files import replace_file, sync_directory, sync_path
from holdfast.broker.log.state import LogState, encode_checkpoint

CHECKPOINT_BYTES = 64 * 1024 * 1024
"""Appended bytes after which a checkpoint is due. A restart may have to read about this much."""


class Tenure:
    """The log's ownership of its directory.

    A deleted topic's name is free at once. A sync that is still running must not write its
    checkpoint into a new topic of this name.
    """

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.is_over = False

    @contextmanager
    def owned(self, directory: str) -> Iterator[None]:
        """For a thread that writes files. Raises FileNotFoundError if the topic was deleted."""
        with self.lock:
            if self.is_over:
                raise FileNotFoundError(errno.ENOENT, "the topic was deleted", directory)
            yield

    def end(self) -> None:
        """Waits for a file that is being written, and prevents further writes."""
        self.is_over = True
        with self.lock:
            pass


class FlushTicket:
    """Makes a log durable up to `end_offset`: `sync` works on any thread.

    Some tickets also write a checkpoint after the sync. A checkpoint only makes a restart faster,
    so the sync succeeds even if the checkpoint fails.
    """

    __slots__ = (
        "_checkpoint",
        "_directories",
        "_directory",
        "_snapshot",
        "_tenure",
        "checkpoint_base",
        "checkpoint_error",
        "end_offset",
        "files",
        "generation",
    )

    def __init__(
        self,
        directory: str,
        generation: int,
        end_offset: int,
        files: list[str],
        directories: list[str],
        tenure: Tenure,
    ) -> None:
        self.generation = generation
        self.end_offset = end_offset
        self.checkpoint_error: OSError | None = None
        self._directory = directory
        self.files = files
        self._directories = directories
        self._tenure = tenure
        self._checkpoint: bytes | None = None
        self._snapshot: bytes | None = None
        self.checkpoint_base: int | None = None
        """Base offset of the active segment in the checkpoint, if there is a checkpoint."""

    def add_checkpoint(self, state: LogState, snapshot: bytes | None) -> None:
        """Adds the state at `end_offset` and its producers, to write after the sync."""
        self._checkpoint = encode_checkpoint(state)
        self._snapshot = snapshot
        self.checkpoint_base = state.segments[-1].base_offset

    @property
    def is_light(self) -> bool:
        """Returns True if `sync` only syncs the data of one file."""
        return len(self.files) == 1 and not self._directories and self._checkpoint is None

    def sync(self, *, durable_checkpoint: bool = True) -> None:
        """Raises OSError if anything may not be on disk."""
        for path in self.files:
            sync_path(path)
        for directory in self._directories:
            sync_directory(directory)
        if self._checkpoint is not None:
            with self._tenure.lock:
                if self._tenure.is_over:
                    return
                try:
                    self._write_checkpoint(self._checkpoint, durable_checkpoint)
                except OSError as error:
                    self.checkpoint_error = error

    def _write_checkpoint(self, checkpoint: bytes, durable: bool) -> None:
        if self._snapshot is not None:
            write_snapshot(self._directory, self.end_offset, self._snapshot, durable=durable)
        replace_file(f"{self._directory}/{CHECKPOINT}", checkpoint, durable=durable)


class Unsynced:
    """Files written since the last ticket.

    They are kept by name: there may be more of them than files that can be open.
    """

    def __init__(self) -> None:
        self._files: dict[str, None] = {}
        self._directories: dict[str, None] = {}
        self._bytes = 0
        self._checkpoint_due = False
        self.tenure = Tenure()

    def abandon(self) -> None:
        """Ends syncs and checkpoints for good."""
        self.tenure.end()
        self._files, self._directories = {}, {}
        self._checkpoint_due = False

    @property
    def is_abandoned(self) -> bool:
        return self.tenure.is_over

    def wrote(self, path: str, size: int) -> None:
        self._files[path] = None
        self._bytes += size

    def again(self, ticket: FlushTicket) -> None:
        """Adds the files of a failed sync again."""
        self._files = dict.fromkeys([*ticket.files, *self._files])

    def named(self, directory: str) -> None:
        """Adds a directory in which files were created, renamed or removed, and a checkpoint."""
        self._directories[directory] = None
        self._checkpoint_due = True

    def want_checkpoint(self) -> None:
        self._checkpoint_due = True

    @property
    def checkpoint_due(self) -> bool:
        return self._checkpoint_due or self._bytes >= CHECKPOINT_BYTES

    def checkpointed(self) -> None:
        self._checkpoint_due = False
        self._bytes = 0

    def ticket(self, directory: str, generation: int, end_offset: int) -> FlushTicket | None:
        """A ticket for all of it; None if there is nothing to sync."""
        if not self._files and not self._directories and not self._checkpoint_due:
            return None
        files, directories = list(self._files), list(self._directories)
        self._files, self._directories = {}, {}
        return FlushTicket(directory, generation, end_offset, files, directories, self.tenure)
