"""Writes the protocol codecs from the message definitions inside Kafka's jars.

    python tools/generate_codecs.py [--into FOLDER]

One module for each request and response of `holdfast.broker.protocol.apis`, in the versions
served, and for each kind of record that the coordinators keep in their internal topics.
"""

import argparse
from pathlib import Path

from codec_generator.definitions import Message, message, read_definitions, snake
from codec_generator.module import module
from holdfast.broker.protocol.apis import APIS
from holdfast.jars import jars

GENERATED = Path(__file__).parents[1] / "src/holdfast/broker/protocol/generated"
CLIENTS = "kafka-clients"
COORDINATOR_RECORDS = {
    "kafka-group-coordinator": (
        "GroupMetadataKey",
        "GroupMetadataValue",
        "OffsetCommitKey",
        "OffsetCommitValue",
    ),
    "kafka-transaction-coordinator": ("TransactionLogKey", "TransactionLogValue"),
}


def api_messages(jar: Path) -> list[Message]:
    """The request and the response of every API served."""
    found = []
    for definition in read_definitions(jar):
        api = APIS.get(definition.get("apiKey", -1))
        if api is None or definition["type"] not in ("request", "response"):
            continue
        read = message(definition, range(api.min_version, api.max_version + 1))
        if snake(read.name) != f"{api.name}_{read.kind}":
            raise ValueError(f"API {api.key} is {read.name}, not {api.name}")
        if read.flexible and read.flexible.start != max(api.first_flexible, api.min_version):
            raise ValueError(f"{read.name} is flexible from version {read.flexible.start} on")
        found.append(read)
    return found


def coordinator_messages(jar: Path, names: tuple[str, ...]) -> list[Message]:
    """The keys and values of a coordinator's internal topic."""
    definitions = {definition["name"]: definition for definition in read_definitions(jar)}
    return [message(definitions[name]) for name in names]


def generate(folder: Path) -> None:
    """Writes every module anew, and removes what no longer belongs."""
    by_name = {jar.stem.rpartition("-")[0]: jar for jar in jars("kafka")}
    modules = {"__init__": '"""Written by tools/generate_codecs.py: one module for a message."""\n'}
    for read in api_messages(by_name[CLIENTS]):
        modules[snake(read.name)] = module(read, by_name[CLIENTS].stem)
    for jar, names in COORDINATOR_RECORDS.items():
        for read in coordinator_messages(by_name[jar], names):
            modules[snake(read.name)] = module(read, by_name[jar].stem)
    folder.mkdir(parents=True, exist_ok=True)
    for stale in set(folder.glob("*.py")) - {folder / f"{name}.py" for name in modules}:
        stale.unlink()
    for name, source in modules.items():
        (folder / f"{name}.py").write_text(source)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--into", type=Path, default=GENERATED, help="where to write the modules")
    generate(parser.parse_args().into)
