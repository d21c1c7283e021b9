"""Every setting: where it can be given, its default, and what its docstring says."""

import ast
import dataclasses
import inspect
import textwrap
import types
import typing
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

from tools.reference.layout import code, page, prose, table

from holdfast.broker.settings import BrokerSettings
from holdfast.broker.topic_config import TopicConfig
from holdfast.client.settings import ClientSettings
from holdfast.config import settings_in
from holdfast.jar_fetch import JarSettings
from holdfast.pipeline.process.settings import PipelineSettings
from holdfast.up.settings import UpSettings
from holdfast.web.settings import WebSettings

SECTIONS: dict[str, type[Any]] = {
    "client": ClientSettings,
    "broker": BrokerSettings,
    "pipeline": PipelineSettings,
    "web": WebSettings,
    "up": UpSettings,
    "jars": JarSettings,
}

_INTRODUCTION = """\
A flag wins over a variable, that over `holdfast.toml` in the working directory (or the file of
`--config`), that over the default. `--http` of a command is `http` in its section and
`HOLDFAST_<SECTION>_HTTP` among the variables; an error names all three places. Many settings have
no flag: [the commands](cli.md) list those that have."""

_FILE = """\
```toml
[client]
bootstrap = "kafka-1:9092,kafka-2:9092"
kafka = { "security.protocol" = "SASL_SSL", "sasl.mechanism" = "SCRAM-SHA-512" }

[pipeline]
lake = "s3a://company/holdfast"
http = "127.0.0.1:9600"
```"""


def settings_page() -> str:
    """The page of all sections, and of what topics of the embedded broker take."""
    parts = ["# Settings", _INTRODUCTION, _FILE]
    for section, settings in SECTIONS.items():
        parts += [f"## [{section}]", prose(_promise(settings)), _settings_table(section, settings)]
    parts += [
        "## Topics of the embedded broker",
        "Given when a topic is created, or by `holdfast topic config`. Names and meanings are "
        "Kafka's.",
        _topic_table(),
    ]
    return page(*parts)


def _promise(settings: type[Any]) -> str:
    return inspect.cleandoc(settings.__doc__ or "")


def _settings_table(section: str, settings: type[Any]) -> str:
    meanings = meanings_of(settings)
    hints = typing.get_type_hints(settings)
    rows = (
        (
            code(field.name),
            code(f"HOLDFAST_{section}_{field.name}".upper()) if _from_text(hints[field.name])
            else "file or argument only",
            code(_shown(_default(field))),
            prose(meanings.get(field.name, "")),
        )
        for field in settings_in(settings).values()
    )  # fmt: skip
    return table(("setting", "variable", "default", "meaning"), rows)


def _topic_table() -> str:
    rows = (
        (code(field.metadata["name"]), code(_shown(field.default)), prose(field.metadata["doc"]))
        for field in dataclasses.fields(TopicConfig)
        if "name" in field.metadata
    )
    return table(("setting", "default", "meaning"), rows)


def meanings_of(settings: type[Any]) -> dict[str, str]:
    """The text that follows each field in the class's source."""
    (definition,) = ast.parse(textwrap.dedent(inspect.getsource(settings))).body
    assert isinstance(definition, ast.ClassDef)
    return dict(_documented(definition.body))


def _documented(body: list[ast.stmt]) -> Iterator[tuple[str, str]]:
    for field, following in pairwise(body):
        if isinstance(field, ast.AnnAssign) and isinstance(following, ast.Expr):
            assert isinstance(field.target, ast.Name)
            yield field.target.id, inspect.cleandoc(ast.literal_eval(following.value))


def _default(field: "dataclasses.Field[Any]") -> Any:
    if field.default_factory is not dataclasses.MISSING:
        return field.default_factory()
    return field.default


def _shown(value: Any) -> str:
    match value:
        case None | "":
            return ""
        case bool():
            return str(value).lower()
        case frozenset():
            return ",".join(sorted(value))
        case Path():
            return str(value)
    return str(value)


def _from_text(hint: Any) -> bool:
    """Returns True if a variable, which is text, can express it."""
    kinds = typing.get_args(hint) if isinstance(hint, types.UnionType) else (hint,)
    return not any(typing.get_origin(kind) is dict for kind in kinds)
