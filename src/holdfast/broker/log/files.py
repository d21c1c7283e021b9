"""The system calls of the log, in one place: bounded open files, whole writes, atomic replacement.

Tests put a faulty disk in the place of `disk`.
"""

import errno
import os
import resource
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path


class Disk:
    """The real one."""

    open = staticmethod(os.open)
    pwrite = staticmethod(os.pwrite)
    pread = staticmethod(os.pread)
    ftruncate = staticmethod(os.ftruncate)
    fdatasync = staticmethod(os.fdatasync)
    fsync = staticmethod(os.fsync)
    rename = staticmethod(os.rename)
    unlink = staticmethod(os.unlink)


disk: Disk = Disk()


class File:
    """An open file, closed when the last one who holds it lets go.

    A sync on another thread or a read under way thus outlives eviction, renaming and deletion.
    """

    __slots__ = ("fd", "path")

    def __init__(self, path: str, flags: int) -> None:
        self.path = path
        self.fd = -1
        self.fd = disk.open(path, flags | os.O_CLOEXEC, 0o644)

    # Bound here, because the module may be gone before the last file when the process ends.
    def __del__(self, close: Callable[[int], None] = os.close) -> None:
        if self.fd >= 0:
            close(self.fd)


class OpenFiles:
    """The files in use, at most `limit` of them: the one unused for longest makes room."""

    def __init__(self, limit: int | None = None) -> None:
        self._limit = limit
        self._files: OrderedDict[str, File] = OrderedDict()

    def get(self, path: str) -> File:
        """An existing file, open for reading and writing."""
        file = self._files.get(path)
        if file is not None:
            self._files.move_to_end(path)
            return file
        return self._keep(File(path, os.O_RDWR))

    def create(self, path: str) -> File:
        """A new, empty file; one of that name from before is emptied."""
        self._files.pop(path, None)
        return self._keep(File(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC))

    def forget(self, path: str) -> None:
        """The name will mean another file, or none."""
        self._files.pop(path, None)

    def __len__(self) -> int:
        return len(self._files)

    def _keep(self, file: File) -> File:
        if self._limit is None:
            self._limit = _share_of_descriptors()
        while len(self._files) >= self._limit:
            self._files.popitem(last=False)
        self._files[file.path] = file
        return file


def _share_of_descriptors() -> int:
    """A quarter of what the process may open: connections need the rest."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return max(64, min(4096, soft // 4))


open_files = OpenFiles()


def write_at(file: File, data: bytes | bytearray | memoryview, position: int) -> None:
    """All of `data`, or OSError; then a part may be on disk."""
    written = disk.pwrite(file.fd, data, position)
    if written == len(data):
        return
    view = memoryview(data)
    while written < len(view):
        more = disk.pwrite(file.fd, view[written:], position + written)
        if more == 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), file.path)
        written += more


def read_at(file: File, size: int, position: int) -> bytes:
    """Up to `size` bytes; fewer only at the end of the file."""
    data = disk.pread(file.fd, size, position)
    while len(data) < size:
        more = disk.pread(file.fd, size - len(data), position + len(data))
        if not more:
            break
        data += more
    return data


def truncate(file: File, size: int) -> None:
    disk.ftruncate(file.fd, size)


def sync_file(file: File) -> None:
    disk.fdatasync(file.fd)


def sync_directory(path: Path | str) -> None:
    """Make the names in a directory durable."""
    fd = disk.open(str(path), os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, 0)
    try:
        disk.fsync(fd)
    finally:
        os.close(fd)


def rename(source: str, target: str) -> None:
    open_files.forget(source)
    open_files.forget(target)
    disk.rename(source, target)


def remove(path: str) -> None:
    """Remove a file that may be gone already."""
    open_files.forget(path)
    try:
        disk.unlink(path)
    except FileNotFoundError:
        pass


def replace_file(path: Path | str, data: bytes, *, durable: bool = True) -> None:
    """Put `data` in the place of the file: after a crash there is the old or the new, whole.

    What can be checked and made again need not be `durable`: then a lost machine may leave neither.
    """
    path = str(path)
    temporary = path + ".tmp"
    try:
        file = File(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        write_at(file, data, 0)
        if durable:
            disk.fsync(file.fd)
        disk.rename(temporary, path)
    except OSError:
        remove(temporary)
        raise
    if durable:
        sync_directory(os.path.dirname(path) or ".")
