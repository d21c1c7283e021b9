"""What a group commit has to sync for one log."""

from holdfast.broker.log.directory import CHECKPOINT, snapshot_path
from holdfast.broker.log.files import File, replace_file, sync_directory, sync_file


class FlushTicket:
    """Everything of a log up to `end_offset`, to be made durable by `sync` on any thread.

    Now and then it also carries a checkpoint, written once what it says is true. A checkpoint
    only spares reading, so when it cannot be written the sync still counts.
    """

    __slots__ = (
        "_checkpoint",
        "_directories",
        "_directory",
        "_files",
        "_snapshot",
        "checkpoint_error",
        "end_offset",
        "generation",
    )

    def __init__(
        self,
        generation: int,
        end_offset: int,
        directory: str,
        files: list[File],
        directories: list[str],
        checkpoint: bytes | None,
        snapshot: bytes | None,
    ) -> None:
        self.generation = generation
        self.end_offset = end_offset
        self._directory = directory
        self._files = files
        self._directories = directories
        self._checkpoint = checkpoint
        self._snapshot = snapshot
        self.checkpoint_error: OSError | None = None

    @property
    def has_checkpoint(self) -> bool:
        return self._checkpoint is not None

    def sync(self) -> None:
        """Raises OSError if anything may not be on disk."""
        for file in self._files:
            sync_file(file)
        for directory in self._directories:
            sync_directory(directory)
        if self._checkpoint is not None:
            try:
                self._write_checkpoint(self._checkpoint)
            except OSError as error:
                self.checkpoint_error = error

    def _write_checkpoint(self, checkpoint: bytes) -> None:
        if self._snapshot is not None:
            replace_file(snapshot_path(self._directory, self.end_offset), self._snapshot)
        replace_file(f"{self._directory}/{CHECKPOINT}", checkpoint)
