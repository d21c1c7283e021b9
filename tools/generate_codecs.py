"""Writes the protocol codecs from the message definitions inside Kafka's jars.

    python -m tools.generate_codecs [--into FOLDER]

One module for each request and response of `holdfast.wire.protocol.apis`, in the versions
served, and for each kind of record that the coordinators keep in their internal topics.
"""

import argparse
from pathlib import Path

from tools.codec_generator.definitions import Message, message, read_definitions
from tools.codec_generator.module import module

from holdfast.jars import jars
from holdfast.wire.protocol.apis import APIS

GENERATED = Path(__file__).parents[1] / "src/holdfast/wire/protocol/generated"
CLIENTS = "kafka-clients"
GROUPS = "kafka-group-coordinator"
GROUP_RECORDS = [
    f"{kind}{part}"
    for kind in (
        "GroupMetadata",
        "OffsetCommit",
        "ConsumerGroupMetadata",
        "ConsumerGroupMemberMetadata",
        "ConsumerGroupTargetAssignmentMetadata",
        "ConsumerGroupTargetAssignmentMember",
        "ConsumerGroupCurrentMemberAssignment",
        "ConsumerGroupRegularExpression",
    )
    for part in ("Key", "Value")
]


def api_messages(jar: Path) -> list[Message]:
    """The request and the response of every API served."""
    found = []
    for definition in read_definitions(jar):
        api = APIS.get(definition.get("apiKey", -1))
        if api is None or definition["type"] not in ("request", "response"):
            continue
        read = message(definition, jar.stem, range(api.min_version, api.max_version + 1))
        if read.module != f"{api.name}_{read.kind}":
            raise ValueError(f"API {api.key} is {read.name}, not {api.name}")
        if read.flexible and read.flexible.start != max(api.first_flexible, api.min_version):
            raise ValueError(f"{read.name} is flexible from version {read.flexible.start} on")
        found.append(read)
    return found


def group_messages(jar: Path) -> list[Message]:
    """The keys and values in the internal topic of groups.

    Those of transactions are not among them: ours have a tagged field that Kafka's lack.
    """
    definitions = {definition["name"]: definition for definition in read_definitions(jar)}
    return [message(definitions[name], jar.stem) for name in GROUP_RECORDS]


def messages() -> list[Message]:
    """Everything there is code for."""
    by_name = {jar.stem.rpartition("-")[0]: jar for jar in jars("kafka")}
    return api_messages(by_name[CLIENTS]) + group_messages(by_name[GROUPS])


def generate(folder: Path) -> None:
    """Writes every module again, and removes obsolete ones."""
    modules = {"__init__": '"""Written by tools/generate_codecs.py: one module for a message."""\n'}
    modules |= {read.module: module(read) for read in messages()}
    folder.mkdir(parents=True, exist_ok=True)
    for stale in set(folder.glob("*.py")) - {folder / f"{name}.py" for name in modules}:
        stale.unlink()
    for name, source in modules.items():
        (folder / f"{name}.py").write_text(source)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--into", type=Path, default=GENERATED, help="where to write the modules")
    generate(parser.parse_args().into)
