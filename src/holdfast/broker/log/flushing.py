"""What has to be synced before it counts as durable."""

import threading

from holdfast.broker.log.directory import CHECKPOINT, snapshot_path
from holdfast.broker.log.files import File, replace_file, sync_directory, sync_file
from holdfast.broker.log.state import LogState, encode_checkpoint

CHECKPOINT_BYTES = 64 * 1024 * 1024
"""Appended bytes after which a checkpoint is due: about what a restart may have to read."""


class Tenure:
    """Whether the directory is still the log's own.

    When a topic is deleted its name is free at once, and a sync that is still under way must not
    leave its checkpoint to a topic that takes the name.
    """

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.is_over = False

    def end(self) -> None:
        """Waits for a checkpoint that is being written; none is begun after that."""
        with self.lock:
            self.is_over = True


class FlushTicket:
    """Everything of a log up to `end_offset`, to be made durable by `sync` on any thread.

    Now and then it also carries a checkpoint, written once what it says is true. A checkpoint
    only spares reading, so when it cannot be written the sync still counts.
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
        files: list[File],
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
        """Where the segment begins that is the active one in the checkpoint, if there is one."""

    def add_checkpoint(self, state: LogState, snapshot: bytes | None) -> None:
        """Write these too, after the sync: the state at `end_offset`, and its producers."""
        self._checkpoint = encode_checkpoint(state)
        self._snapshot = snapshot
        self.checkpoint_base = state.segments[-1].base_offset

    @property
    def is_light(self) -> bool:
        """Whether there is nothing to sync but the data of one file."""
        return len(self.files) == 1 and not self._directories and self._checkpoint is None

    def sync(self, *, durable_checkpoint: bool = True) -> None:
        """Raises OSError if anything may not be on disk."""
        for file in self.files:
            sync_file(file)
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
            path = snapshot_path(self._directory, self.end_offset)
            replace_file(path, self._snapshot, durable=durable)
        replace_file(f"{self._directory}/{CHECKPOINT}", checkpoint, durable=durable)


class Unsynced:
    """What was written since the last ticket."""

    def __init__(self) -> None:
        self._files: dict[str, File] = {}
        self._directories: dict[str, None] = {}
        self._bytes = 0
        self._checkpoint_due = False
        self._tenure = Tenure()

    def abandon(self) -> None:
        """Nothing is to be synced any more, and no checkpoint is written from now on."""
        self._tenure.end()
        self._files, self._directories = {}, {}
        self._checkpoint_due = False

    @property
    def is_abandoned(self) -> bool:
        return self._tenure.is_over

    def wrote(self, file: File, size: int) -> None:
        self._files[file.path] = file
        self._bytes += size

    def again(self, ticket: FlushTicket) -> None:
        """Its sync failed: none of it is known to be on disk."""
        self._files = {**{file.path: file for file in ticket.files}, **self._files}

    def named(self, directory: str) -> None:
        """Files were created, renamed or removed there: worth a checkpoint, too."""
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
        """All of it, to be synced; None if there is nothing."""
        if not self._files and not self._directories and not self._checkpoint_due:
            return None
        files, directories = list(self._files.values()), list(self._directories)
        self._files, self._directories = {}, {}
        return FlushTicket(directory, generation, end_offset, files, directories, self._tenure)
