"""A file system that is soon full, for a broker to keep its data on."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest


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
    """The same for a test, which is skipped where none can be mounted."""
    with ExitStack() as stack:
        try:
            stack.enter_context(mount(folder, size))
        except CannotMountError as reason:
            pytest.skip(str(reason))
        yield folder


def resize(folder: Path, size: str) -> None:
    """What is mounted there has that size from now on, be it full then."""
    subprocess.run(["mount", "-o", f"remount,size={size}", str(folder)], check=True)
