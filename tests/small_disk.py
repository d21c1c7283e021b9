"""A file system that is soon full, for a broker to keep its data on."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

_LOOKS = 50


class CannotMountError(Exception):
    """No file system of one's own here: one must be root, and allowed to mount."""


@contextmanager
def mount(folder: Path, size: str) -> Iterator[Path]:
    """A file system of that size at `folder`, or CannotMountError."""
    if os.geteuid() != 0:
        raise CannotMountError("only root may mount a small file system")
    folder.mkdir()
    tried = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if tried.returncode != 0:
        raise CannotMountError(f"a small file system cannot be mounted: {tried.stderr.strip()}")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


@contextmanager
def mounted(folder: Path, size: str) -> Iterator[Path]:
    """A small disk for a test, which is skipped where none can be mounted."""
    with ExitStack() as stack:
        try:
            stack.enter_context(mount(folder, size))
        except CannotMountError as reason:
            pytest.skip(str(reason))
        yield folder


def resize(folder: Path, size: str) -> None:
    """Changes the size of the mounted disk."""
    subprocess.run(["mount", "-o", f"remount,size={size}", str(folder)], check=True)


def leave_no_room(folder: Path) -> None:
    """Fills the mounted disk to the last byte. Another process may write to it meanwhile: then it
    cannot be as small as it was to be, and is looked at again."""
    for patience in reversed(range(_LOOKS)):
        used = os.statvfs(folder)
        taken = (used.f_blocks - used.f_bfree) * used.f_frsize
        try:
            resize(folder, str(max(taken, used.f_frsize)))
        except subprocess.CalledProcessError:
            if not patience:
                raise
        else:
            return
