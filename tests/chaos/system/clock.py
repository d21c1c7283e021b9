"""Clocks that jump: processes run on `jumping_clock.c`, which is told by a file how far off to be.

Waits that are under way are not prolonged by a jump back, as those of a real clock may be.
"""

import shutil
import struct
import subprocess
from collections.abc import Mapping
from pathlib import Path

_SOURCE = Path(__file__).with_name("jumping_clock.c")


def build_library(folder: Path) -> Path | None:
    """The library, made in that folder; None where there is no C compiler."""
    if shutil.which("cc") is None:
        return None
    library = folder / "jumping_clock.so"
    subprocess.run(
        ["cc", "-O2", "-shared", "-fPIC", "-o", str(library), str(_SOURCE), "-ldl", "-pthread"],
        check=True,
    )
    return library


class Clock:
    """The wall clock of the processes that were started with its environment."""

    def __init__(self, library: Path | None, file: Path) -> None:
        self.can_jump = library is not None
        self.environment: Mapping[str, str] = (
            {} if library is None else {"LD_PRELOAD": str(library), "CLOCK_OFFSET": str(file)}
        )
        self._file = file
        self._file.write_bytes(bytes(8))

    def set(self, ahead: float) -> None:
        """So many seconds ahead of the true time from now on."""
        with self._file.open("r+b", buffering=0) as file:
            file.write(struct.pack("=q", round(ahead * 1e9)))
