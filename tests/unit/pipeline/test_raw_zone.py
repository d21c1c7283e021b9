"""What the raw zone decides without Spark."""

from holdfast.pipeline.raw_zone import table_location, trigger_ms


def test_flows_do_not_all_land_at_the_same_moments() -> None:
    lengths = {trigger_ms(10, f"flow-{n}") for n in range(50)}
    assert len(lengths) > 40
    assert all(10_000 <= length < 12_500 for length in lengths)
    assert trigger_ms(10, "orders") == trigger_ms(10, "orders")


def test_each_flow_has_a_table_of_its_own() -> None:
    assert table_location("s3://bucket/lake/", "orders") == "s3://bucket/lake/raw/orders"
