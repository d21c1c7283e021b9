"""The partitions that murmur2, the Java client's partitioner, gives a column of keys."""

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from holdfast.kafka.columns import data_of, edges_of
from holdfast.kafka.varints import Bytes, Numbers

_M = np.uint32(0x5BD1E995)
_SEED = 0x9747B28C


def partitions_of(keys: pa.Array, partitions: int) -> Numbers:
    """The partition of each key; that of a null is 0."""
    found = np.zeros(len(keys), np.int64)
    if partitions == 1 or not len(keys):
        return found
    edges, data = edges_of(keys), data_of(keys)
    sizes = np.diff(edges)
    for size in np.unique(sizes):
        rows = np.flatnonzero(sizes == size)
        every = len(rows) == len(sizes)
        starts = edges[:-1] if every else edges[rows]
        letters = data[starts[:, None] + np.arange(size, dtype=np.int32)]
        hashes = _murmur2(letters, int(size)) & np.uint32(0x7FFFFFFF)
        found[rows] = hashes % np.uint32(partitions)
    if keys.null_count:
        found[keys.is_null().to_numpy(zero_copy_only=False)] = 0
    return found


def _murmur2(letters: Bytes, size: int) -> npt.NDArray[np.uint32]:
    """The hash of each row; all rows have the same length."""
    hashes = np.full(len(letters), _SEED ^ size, np.uint32)
    whole = size // 4
    words = np.ascontiguousarray(letters[:, : 4 * whole]).view("<u4")
    for index in range(whole):
        word = words[:, index] * _M
        word ^= word >> np.uint32(24)
        word *= _M
        hashes *= _M
        hashes ^= word
    if size % 4:
        for index in reversed(range(4 * whole, size)):
            hashes ^= letters[:, index].astype(np.uint32) << np.uint32(8 * (index - 4 * whole))
        hashes *= _M
    hashes ^= hashes >> np.uint32(13)
    hashes *= _M
    hashes ^= hashes >> np.uint32(15)
    return hashes
