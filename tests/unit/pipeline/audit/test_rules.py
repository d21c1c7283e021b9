"""The settings of a flow, as the audit reads them from the journal."""

import pytest

from holdfast.flows.registry import Overflow
from holdfast.gate.settings import GateSettings
from holdfast.pipeline.audit.rules import Change, change_of


@pytest.mark.parametrize("schema", [None, "id BIGINT NOT NULL"])
@pytest.mark.parametrize("overflow", ["block", "dead-letter"])
def test_settings_in_the_journal_are_read_with_and_without_a_schema(
    schema: str | None, overflow: Overflow
) -> None:
    written = GateSettings(overflow=overflow, schema=schema).document
    assert change_of(1, 7, written) == Change(1, 7, schema, overflow == "dead-letter")


@pytest.mark.parametrize("settings", [None, "", "{", "[]", "7", '{"schema": "id INT"}'])
def test_unreadable_settings_are_no_change(settings: str | None) -> None:
    assert change_of(0, 0, settings) is None
