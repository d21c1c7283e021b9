"""Settings that clients change while the broker runs, in one small file: quotas, and the settings
of the broker and of groups."""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from holdfast.broker.durable_file import DurableFile
from holdfast.broker.topic_defaults import TopicDefaults
from holdfast.errors import DataDirectoryError

FILE_NAME = "dynamic.json"
FORMAT = 1


class QuotaEntity(NamedTuple):
    """Whose quota it is. A part is a name, `DEFAULT` for all without a quota of their own, or None
    if it does not matter."""

    user: str | None = None
    client_id: str | None = None


DEFAULT = ""
"""In a `QuotaEntity`. Kafka's names are never empty."""

Overrides = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Dynamic:
    """The file's contents. They never change; a change makes new ones."""

    quotas: Mapping[QuotaEntity, Mapping[str, float]] = field(default_factory=dict)
    broker_defaults: Overrides = field(default_factory=dict)
    """Settings of all brokers, as Kafka calls it: the resource with an empty name."""
    broker: Overrides = field(default_factory=dict)
    """Settings of this broker. They go before `broker_defaults`."""
    groups: Mapping[str, Overrides] = field(default_factory=dict)


class DynamicFile(DurableFile[Dynamic]):
    """The present settings, and changes to them one at a time."""

    def __init__(self, data_dir: Path) -> None:
        path = data_dir / FILE_NAME
        super().__init__(path, _load(path), _encode)


def _encode(dynamic: Dynamic) -> bytes:
    document = {
        "format": FORMAT,
        "quotas": [
            {**entity._asdict(), "limits": dict(limits)}
            for entity, limits in dynamic.quotas.items()
        ],
        "broker_defaults": dict(dynamic.broker_defaults),
        "broker": dict(dynamic.broker),
        "groups": {name: dict(overrides) for name, overrides in dynamic.groups.items()},
    }
    return json.dumps(document, indent=1).encode()


def _load(path: Path) -> Dynamic:
    try:
        document = json.loads(path.read_bytes())
        if document["format"] != FORMAT:
            raise ValueError(f"it has format {document['format']}, not {FORMAT}")
        return Dynamic(
            dict(map(_quota, document["quotas"])),
            _broker(document["broker_defaults"]),
            _broker(document["broker"]),
            {str(name): _overrides(found) for name, found in document["groups"].items()},
        )
    except FileNotFoundError:
        return Dynamic()
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise DataDirectoryError(
            f"{path} cannot be read: {error!r}. It has the quotas and the settings that clients "
            "have changed. Restore it from a backup. Or remove it: they are then gone, and all "
            "else is as before."
        ) from None


def _quota(document: Mapping[str, Any]) -> tuple[QuotaEntity, dict[str, float]]:
    entity = QuotaEntity(_name(document["user"]), _name(document["client_id"]))
    limits = {str(key): float(value) for key, value in document["limits"].items()}
    if not all(map(math.isfinite, limits.values())):
        raise ValueError(f"the quota of {entity} is no number")
    return entity, limits


def _name(value: Any) -> str | None:
    return None if value is None else str(value)


def _broker(document: Mapping[str, Any]) -> dict[str, str]:
    overrides = _overrides(document)
    TopicDefaults.check(overrides)
    return overrides


def _overrides(document: Mapping[str, Any]) -> dict[str, str]:
    return {str(name): str(value) for name, value in document.items()}
