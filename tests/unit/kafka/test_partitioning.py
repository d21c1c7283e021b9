"""murmur2 of whole columns, against that of one key at a time."""

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.flows.keys import partition_of
from holdfast.kafka.partitioning import partitions_of

keys = st.lists(st.one_of(st.none(), st.binary(max_size=40)), max_size=30)


@settings(deadline=None, max_examples=150)
@given(keys, st.integers(1, 2000), st.integers(0, 5))
def test_column_of_keys_gets_the_partitions_of_the_single_keys(
    keys: list[bytes | None], partitions: int, cut: int
) -> None:
    column = pa.array([b"before", None, *keys, b"after"], pa.binary()).slice(2, len(keys))
    found = partitions_of(column.slice(cut), partitions)
    expected = [0 if key is None else partition_of(key, partitions) for key in keys[cut:]]
    assert found.tolist() == expected


def test_keys_of_equal_and_of_large_length_get_the_same_partition() -> None:
    for keys in ([b"%04d" % i for i in range(50)], [b""] * 3, [bytes(range(256)) * 20, b"x"]):
        found = partitions_of(pa.array(keys, pa.binary()), 6)
        assert found.tolist() == [partition_of(key, 6) for key in keys]


def test_a_column_of_nulls_has_no_partition_of_its_own() -> None:
    assert partitions_of(pa.nulls(3, pa.binary()), 6).tolist() == [0, 0, 0]
