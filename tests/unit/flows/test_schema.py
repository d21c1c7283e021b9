"""A value that a person has written is checked against the flow's schema, without Spark."""

import pytest

from holdfast.errors import ConflictError, InvalidArgumentError
from holdfast.flows.registry import FlowDefinition, decode_flow, encode_flow
from holdfast.flows.schema import flaw_of

SCHEMA = (
    "id BIGINT NOT NULL, `odd name` STRING COMMENT 'x, y', total DECIMAL(10, 2), paid BOOLEAN, "
    "lines ARRAY<STRUCT<sku: STRING NOT NULL, count: INT>>, tags MAP<STRING, DOUBLE>, at TIMESTAMP"
)


@pytest.mark.parametrize(
    "value",
    [
        b'{"id": 7}',
        b'{"id": 7, "odd name": {"any": 1}, "total": 9.5, "paid": true, "more": []}',
        b'{"id": 7, "lines": [{"sku": "a", "count": 2}], "tags": {"x": 1}, "at": "2026-01-01"}',
        b'{"id": 7, "lines": null, "total": null}',
        None,
    ],
)
def test_a_value_of_the_schemas_form_has_no_flaw(value: bytes | None) -> None:
    assert flaw_of(SCHEMA, value) == ""


@pytest.mark.parametrize(
    ("value", "flaw"),
    [
        (b"{", "not JSON"),
        (b"[]", "must be a JSON object"),
        (b'{"total": 1}', "id is missing"),
        (b'{"id": 1.5}', "id must be a whole number"),
        (b'{"id": 9223372036854775808}', "id must be a whole number"),
        (b'{"id": true}', "id must be a whole number"),
        (b'{"id": 1, "paid": "yes"}', "paid must be true or false"),
        (b'{"id": 1, "lines": [{"count": 1}]}', "lines[0].sku is missing"),
        (b'{"id": 1, "lines": {}}', "lines must be a list"),
        (b'{"id": 1, "tags": {"x": []}}', "tags[x] must be a number"),
    ],
)
def test_the_first_field_that_cannot_be_right_is_named(value: bytes, flaw: str) -> None:
    assert flaw in flaw_of(SCHEMA, value)


@pytest.mark.parametrize("schema", ["id", "id BIGINT,", "id ARRAY<INT", "?", "a INTERVAL YEAR"])
def test_a_schema_that_is_not_understood_refuses_nothing(schema: str) -> None:
    assert flaw_of(schema, b"anything") == ""


def test_a_flow_can_forbid_sending_by_hand() -> None:
    flow = FlowDefinition(name="orders", partitions=1, created_at=1, sending=False)
    assert decode_flow(*encode_flow(flow)) == flow
    with pytest.raises(ConflictError, match="switched off"):
        flow.check_event(b"{}")
    typed = FlowDefinition(name="orders", partitions=1, created_at=1, schema="id INT NOT NULL")
    typed.check_event(b'{"id": 1}')
    with pytest.raises(InvalidArgumentError, match="id is missing"):
        typed.check_event(b"{}")
