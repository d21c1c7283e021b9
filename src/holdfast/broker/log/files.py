"""The system calls of the log: bounded open files, whole writes, atomic replacement.

The number of open files does not depend on that of partitions, also in recovery after kill -9.
Tests replace `disk` by a faulty one.
"""

import errno
import os
import resource
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path

from holdfast import faults

MOST_FILES = 4096


class Disk:
    """The real disk."""

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
    """An open file, closed when its last reference is gone.

    So a running sync or read survives eviction, renaming and deletion.
    """

    __slots__ = ("fd", "path")

    def __init__(self, path: str, flags: int, mode: int = 0o644) -> None:
        self.path = path
        self.fd = -1
        self.fd = disk.open(path, flags | os.O_CLOEXEC, mode)

    # Bound here: at the end of the process the module may be gone before the last file.
    def __del__(self, close: Callable[[int], None] = os.close) -> None:
        if self.fd >= 0:
            close(self.fd)


class OpenFiles:
    """At most `limit` open files. The least recently used one is closed to make room."""

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

    def if_open(self, path: str) -> File | None:
        """The file if it is open. Works on any thread."""
        return self._files.get(path)

    def create(self, path: str) -> File:
        """A new, empty file. An existing file of this name is emptied."""
        self._files.pop(path, None)
        return self._keep(File(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC))

    def forget(self, path: str) -> None:
        """Closes a file whose name will be reused or removed."""
        self._files.pop(path, None)

    def __len__(self) -> int:
        return len(self._files)

    def _keep(self, file: File) -> File:
        if self._limit is None:
            self._limit = share_of_descriptors()
        while len(self._files) >= self._limit:
            self._files.popitem(last=False)
        self._files[file.path] = file
        return file


def share_of_descriptors() -> int:
    """The maximum number of open log files: a quarter of the process's limit. Connections need
    the rest."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return MOST_FILES if soft == resource.RLIM_INFINITY else max(64, min(MOST_FILES, soft // 4))


open_files = OpenFiles()


def write_at(file: File, data: bytes | bytearray | memoryview, position: int) -> None:
    """Writes all of `data`; after an OSError a part may be on disk."""
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


def sync_path(path: str) -> None:
    """Syncs a file by its name, on any thread. So files need not stay open until their sync.

    Linux reports a failed write-back to the next sync, also through a new descriptor. A file that
    was removed meanwhile needs no sync.
    """
    file = open_files.if_open(path)
    if file is None:
        try:
            file = File(path, os.O_RDWR)
        except FileNotFoundError:
            return
    sync_file(file)


def sync_directory(path: Path | str) -> None:
    """Makes the names in a directory durable."""
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
    """Removes a file, if it exists."""
    open_files.forget(path)
    unlink(path)


def unlink(path: str) -> None:
    """Removes a file that is not open, if it exists. Works on any thread."""
    try:
        disk.unlink(path)
    except FileNotFoundError:
        pass


def replace_file(path: Path | str, data: bytes, *, durable: bool = True, mode: int = 0o644) -> None:
    """Replaces a file: after a crash there is the old or the new one, complete.

    Files that can be checked and rebuilt need not be `durable`: a power failure may then leave
    neither.
    """
    path = str(path)
    temporary = path + ".tmp"
    try:
        file = File(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode)
        write_at(file, data, 0)
        if durable:
            disk.fsync(file.fd)
        faults.reach(f"{os.path.basename(path)}-written")
        disk.rename(temporary, path)
        faults.reach(f"{os.path.basename(path)}-replaced")
    except OSError:
        remove(temporary)
        raise
    if durable:
        sync_directory(os.path.dirname(path) or ".")
