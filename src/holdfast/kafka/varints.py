"""Zigzag varints, a column at a time."""

import numpy as np
import numpy.typing as npt

from holdfast.wire.records.compression import UndecodableRecords

Bytes = npt.NDArray[np.uint8]
Numbers = npt.NDArray[np.int64]

_LIMITS = np.array([1 << shift for shift in range(7, 64, 7)], np.uint64)


def read_varints(data: Bytes, at: Numbers) -> tuple[Numbers, Numbers]:
    """The numbers that begin at these positions, and the positions behind them."""
    byte = data[at]
    value = (byte & 0x7F).astype(np.uint64)
    after = at + 1
    longer = np.flatnonzero(byte >= 0x80)
    shift = 7
    while len(longer):
        if shift > 63:
            raise UndecodableRecords("A varint does not end")
        every = len(longer) == len(at)
        byte = data[after] if every else data[after[longer]]
        part = (byte & 0x7F).astype(np.uint64) << np.uint64(shift)
        if every:
            value |= part
            after += 1
        else:
            value[longer] |= part
            after[longer] += 1
        longer = longer[byte >= 0x80]
        shift += 7
    one = np.uint64(1)
    return (value >> one).astype(np.int64) ^ -(value & one).astype(np.int64), after


def zigzag(values: Numbers) -> npt.NDArray[np.uint64]:
    return ((values << 1) ^ (values >> 63)).astype(np.uint64)


def varint_sizes(values: Numbers) -> Numbers:
    """How many bytes each takes."""
    if not len(values):
        return np.zeros(0, np.int64)
    raw = zigzag(values)
    return 1 + np.searchsorted(_LIMITS, raw, side="right").astype(np.int64)


class Grid:
    """Rows of bytes, put together from columns: constants, and varints of varying length."""

    def __init__(self, rows: int) -> None:
        self._rows = rows
        self._columns: list[Bytes | int] = []
        self._used: list[npt.NDArray[np.bool_] | None] = []

    def constant(self, byte: int) -> None:
        self._columns.append(byte)
        self._used.append(None)

    def varint(self, values: Numbers) -> None:
        raw = zigzag(values)
        left: npt.NDArray[np.bool_] | None = None  # None: all rows have this byte
        while True:
            more = raw > 0x7F
            self._columns.append(((raw & 0x7F) | (more.astype(np.uint64) << 7)).astype(np.uint8))
            self._used.append(left)
            if not more.any():
                return
            left = None if left is None and more.all() else more
            raw >>= np.uint64(7)

    def flatten(self) -> tuple[Bytes, npt.NDArray[np.int32]]:
        """All rows, one behind the other, and where each begins; one more for the end."""
        width = len(self._columns)
        grid = np.empty((self._rows, width), np.uint8)
        for index, column in enumerate(self._columns):
            grid[:, index] = column
        if all(used is None for used in self._used):
            starts = np.arange(0, (self._rows + 1) * width, width, dtype=np.int32)
            return grid.reshape(-1), starts
        mask = np.ones((self._rows, width), np.bool_)
        for index, used in enumerate(self._used):
            if used is not None:
                mask[:, index] = used
        starts = np.zeros(self._rows + 1, np.int32)
        np.cumsum(mask.sum(axis=1), out=starts[1:])
        return grid[mask], starts
