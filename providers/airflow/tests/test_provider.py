"""What Airflow finds of the provider, without a Holdfast."""

import json
from pathlib import Path

import airflow
import pytest
from airflow.providers_manager import ProvidersManager
from airflow_provider_holdfast import get_provider_info
from airflow_provider_holdfast.hook import HoldfastHook
from jsonschema import validate

from conftest import EXAMPLES, connection_variable, free_port


@pytest.mark.parametrize("name", ["provider_info.schema.json", "provider.yaml.schema.json"])
def test_provider_info_fits_schema_of_airflow(name: str) -> None:
    schema = json.loads((Path(airflow.__file__).parent / name).read_text())
    info = get_provider_info()
    if name == "provider_info.schema.json":
        validate(info, schema)
    types = schema["properties"]["connection-types"]
    validate(info["connection-types"], {**schema, **types})


def test_airflow_finds_connection_type_with_its_fields() -> None:
    manager = ProvidersManager()
    hook = manager.hooks["holdfast"]
    assert hook is not None
    assert hook.hook_name == "Holdfast"
    assert hook.connection_testable
    fields = manager.connection_form_widgets
    assert {name for name in fields if "holdfast" in name} == {
        "extra__holdfast__ca_file",
        "extra__holdfast__verify",
    }
    relabelled = manager.field_behaviours["holdfast"]["relabeling"]
    assert relabelled == {"host": "Address", "password": "Token"}


def test_all_named_classes_and_modules_exist() -> None:
    from importlib import import_module

    info = get_provider_info()
    for kind in ("hooks", "operators", "sensors", "triggers"):
        for module in info[kind][0]["python-modules"]:
            import_module(module)
    for path in info["extra-links"]:
        module, _, name = path.rpartition(".")
        assert getattr(import_module(module), name)().name


def test_example_dags_load_without_errors() -> None:
    from airflow.dag_processing.dagbag import DagBag

    bag = DagBag(EXAMPLES)
    assert bag.import_errors == {}
    assert set(bag.dags) == {"replay", "backfill", "dlq_inspection", "data_quality"}


def test_test_button_names_the_address_that_cannot_be_reached(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    address = f"http://127.0.0.1:{free_port()}"
    monkeypatch.setenv("AIRFLOW_CONN_AWAY", connection_variable(address))
    fine, message = HoldfastHook("away").test_connection()
    assert not fine
    assert f"Holdfast at {address} cannot be reached" in message
    assert "Check the address" in message
