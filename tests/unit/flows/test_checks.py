"""Checks of quality, as people write them, and what came of them, as it is stored."""

import pytest

from holdfast.errors import InvalidArgumentError, InvalidRecordError
from holdfast.flows.checks import Fresh, Range, Required, Unique, Volume, parse_check
from holdfast.flows.quality import CheckResult, QualityReport, decode_quality, encode_quality
from holdfast.flows.registry import FlowDefinition, decode_flow, encode_flow


@pytest.mark.parametrize(
    ("text", "check"),
    [
        ("required order.id", Required("order.id")),
        ("range total 0..100.5", Range("total", 0.0, 100.5)),
        ("range total ..5", Range("total", float("-inf"), 5.0)),
        ("unique order status", Unique(("order", "status"))),
        ("fresh 10m", Fresh(600)),
        ("volume 50..200 14", Volume(50.0, 200.0, 14)),
        ("volume 50..", Volume(50.0, float("inf"), 7)),
    ],
)
def test_each_form_of_check_is_parsed(text: str, check: object) -> None:
    assert parse_check(text) == check


@pytest.mark.parametrize(
    "text",
    ["", "required", "required a b", "required $.a", "range total 5", "range total 5..1",
     "range total a..b", "range total nan..", "unique", "fresh", "fresh 0s", "fresh soon",
     "volume 1..2 0", "volume 1..2 x", "never"],
)  # fmt: skip
def test_invalid_check_is_refused_with_a_reason(text: str) -> None:
    with pytest.raises(InvalidArgumentError, match=r"\.$"):
        parse_check(text)


def test_a_flow_keeps_its_checks_and_its_event_id() -> None:
    flow = FlowDefinition(
        name="orders", partitions=1, created_at=1, event_id="order.id", checks=("fresh 10m",)
    )
    assert decode_flow(*encode_flow(flow)) == flow
    with pytest.raises(InvalidArgumentError):
        FlowDefinition(name="orders", partitions=1, created_at=1, checks=("sometimes",))
    with pytest.raises(InvalidArgumentError):
        FlowDefinition(name="orders", partitions=1, created_at=1, event_id="$.id")


def test_a_report_is_read_as_it_was_written_and_anything_else_is_refused() -> None:
    report = QualityReport(
        "orders", 5, 2, (CheckResult("required id", False, 2, 1, "1 lacks it", ("0:7",)),)
    )
    key, value = encode_quality(report)
    assert decode_quality(key, value) == report
    for wrong in (None, b"", b"[]", b"{}", value.replace(b'"version":1', b'"version":2')):
        with pytest.raises(InvalidRecordError):
            decode_quality(key, wrong)
    with pytest.raises(InvalidRecordError):
        decode_quality(b"payments", value)
