"""Arrow's binary columns, made of and taken apart into the buffers that they stand on."""

from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from holdfast.kafka.varints import Bytes, Grid, Numbers

Part: TypeAlias = pa.Array | pa.Scalar


def edges_of(column: pa.Array) -> npt.NDArray[np.int32]:
    """Where each element begins in the column's data, and where the last one ends."""
    edges: npt.NDArray[np.int32] = np.frombuffer(column.buffers()[1], np.int32)
    return edges[column.offset : column.offset + len(column) + 1]


def data_of(column: pa.Array) -> Bytes:
    data = column.buffers()[2]
    return np.zeros(0, np.uint8) if data is None else np.frombuffer(data, np.uint8)


def lengths(column: pa.Array, of_null: int) -> Numbers:
    """The length of each element."""
    sizes = np.diff(edges_of(column)).astype(np.int64)
    if column.null_count:
        sizes[column.is_null().to_numpy(zero_copy_only=False)] = of_null
    return sizes


def slices(data: pa.Buffer, starts: Numbers, sizes: Numbers) -> pa.Array:
    """Slices of the data, which follow each other, as one column; a negative size is a null.

    An Arrow array's elements touch each other, so one of both the slices and what lies between
    them is laid over the data, and every second element is taken.
    """
    edges = np.empty(2 * len(starts), np.int32)
    edges[0::2] = starts
    edges[1::2] = starts + np.maximum(sizes, 0)
    both = pa.Array.from_buffers(
        pa.binary(), max(0, len(edges) - 1), [None, pa.py_buffer(edges), data]
    )
    wanted = np.arange(0, len(edges), 2, dtype=np.int32)
    missing = sizes < 0
    return both.take(pa.array(wanted, mask=missing if missing.any() else None))


def grid_column(grid: Grid) -> pa.Array:
    data, starts = grid.flatten()
    buffers = [None, pa.py_buffer(starts), pa.py_buffer(data)]
    return pa.Array.from_buffers(pa.binary(), len(starts) - 1, buffers)


def scalar(value: bytes) -> pa.Scalar:
    return pa.scalar(value, pa.binary())


def joined(*parts: Part) -> pa.Array:
    """Row by row, one part behind the other; a null is nothing."""
    return pc.binary_join_element_wise(
        *parts, scalar(b""), null_handling="replace", null_replacement=b""
    )
