"""What Airflow asks of a provider: its modules, and the form of its connection as data."""

from typing import Any

_NAME = "Holdfast"
_PACKAGE = "airflow_provider_holdfast"


def _modules(*names: str) -> list[dict[str, Any]]:
    return [{"integration-name": _NAME, "python-modules": [f"{_PACKAGE}.{name}" for name in names]}]


def get_provider_info() -> dict[str, Any]:
    """The provider's description, in the form of Airflow's `provider_info.schema.json`."""
    return {
        "package-name": "airflow-provider-holdfast",
        "name": _NAME,
        "description": "Replay, backfill, redrive, audit, hold and release with Holdfast.",
        "integrations": [{"integration-name": _NAME, "tags": ["service"]}],
        "hooks": _modules("hook"),
        "operators": _modules("runs", "commands"),
        "sensors": _modules("sensors"),
        "triggers": _modules("triggers", "event_triggers"),
        "extra-links": [f"{_PACKAGE}.links.RunLink", f"{_PACKAGE}.links.KeyLink"],
        "connection-types": [
            {
                "connection-type": "holdfast",
                "hook-class-name": f"{_PACKAGE}.hook.HoldfastHook",
                "hook-name": _NAME,
                "ui-field-behaviour": {
                    "hidden-fields": ["login", "schema", "port", "extra"],
                    "relabeling": {"host": "Address", "password": "Token"},
                    "placeholders": {
                        "host": "https://holdfast.example.com:8600",
                        "password": "holdfast token create airflow --role operator",
                    },
                },
                "conn-fields": {
                    "ca_file": {
                        "label": "CA file",
                        "description": "Certificates to trust, as a path on the workers and the "
                        "triggerer. Empty: those of the system.",
                        "schema": {"type": ["string", "null"]},
                    },
                    "verify": {
                        "label": "Check certificate",
                        "description": "Turn this off only for tests.",
                        "schema": {"type": ["boolean", "null"], "default": True},
                    },
                },
            }
        ],
    }
