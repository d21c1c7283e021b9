"""`holdfast kcat`: the flags of kcat for -P, -C, -G, -L and -Q, and its output.

For hands and scripts that know kcat. Two things differ on purpose. Without -b the broker is that of
our settings. Keys go to the partition that Java clients choose; -X partitioner=consistent_random
chooses as kcat does.
"""

import argparse
import getopt
import json
import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from holdfast.cli import FAILED, OK
from holdfast.cli.record_format import unescaped
from holdfast.cli.record_input import split, split_key
from holdfast.errors import HoldfastError, InvalidArgumentError

if TYPE_CHECKING:
    from confluent_kafka.admin import ClusterMetadata, TopicMetadata

    from holdfast.client.connection import Connection

Options = dict[str, Any]

_EPILOG = """\
examples:
  holdfast kcat -L -t orders
  holdfast kcat -C -t orders -o -10 -e -f '%p:%o %k %s\\n'
  printf 'customer-7:paid\\n' | holdfast kcat -P -t orders -K :
  holdfast kcat -G billing orders '^payments'
  holdfast kcat -Q -t orders:0:1767225600000

Not there: Avro and other deserialisers (-s, -r), transactions of -X transactional.id, -X list,
-X dump, -d, -v and -E. Messages about errors have other words.
"""


def run(name: str, arguments: Sequence[str]) -> int:
    """Runs one mode of kcat. Returns 0 or, as kcat does for every failure, 1."""
    try:
        options = parse(arguments)
        if options["help"]:
            parser().print_help()
            return OK
        _run(options)
    except HoldfastError as error:
        sys.stdout.flush()
        print(f"% ERROR: {error}", file=sys.stderr)
        return FAILED
    return OK


def _run(options: Options) -> None:
    from holdfast.cli.kcat_consume import consume

    connection = _connection(options)
    if options["mode"] == "C":
        consume(connection, options)
    elif options["mode"] == "P":
        _produce(connection, options)
    elif options["mode"] == "L":
        _list(connection, options)
    else:
        _query(connection, options)


def parser() -> argparse.ArgumentParser:
    """The flags, for help and reference. `parse` reads them as kcat does."""
    parser = argparse.ArgumentParser(
        prog="holdfast kcat",
        description="Produce, consume, list and query with the flags of kcat.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        add_help=False,
    )
    flag = {"action": "store_true"}
    for mode, words in (("P", "produce"), ("C", "consume"), ("L", "list brokers and topics"),
                        ("Q", "query offsets by time")):  # fmt: skip
        parser.add_argument(f"-{mode}", help=f"mode: {words}", dest=mode, **flag)  # type: ignore[arg-type]
    for letter, value, text in (
        ("G", "GROUP", "mode: consume in this group; the topics follow"),
        ("b", "BROKERS", "brokers to begin with; by default those of our settings"),
        ("t", "TOPIC", "the topic; with -Q TOPIC:PARTITION:MILLISECONDS, may be repeated"),
        ("p", "PARTITION", "only this partition"),
        ("D", "TEXT", "what ends a record; by default a line break"),
        ("K", "TEXT", "what stands between key and value"),
        ("k", "KEY", "the key of every record"),
        ("H", "NAME=VALUE", "a header of every record; may be repeated"),
        ("z", "CODEC", "compression: gzip, snappy, lz4 or zstd"),
        ("c", "COUNT", "end after this number of records"),
        ("o", "WHERE", "beginning, end, stored, an offset, -N (from the end), s@MS or e@MS"),
        ("f", "FORMAT", "as in 'holdfast consume -f'"),
        ("X", "NAME=VALUE", "a property of librdkafka; may be repeated"),
        ("F", "FILE", "a file of such properties; by default KCAT_CONFIG or ~/.config/kcat.conf"),
        ("m", "SECONDS", "time limit of requests; by default 5"),
    ):
        parser.add_argument(f"-{letter}", metavar=value, help=text)
    for letter, text in (
        ("e", "end at the last record"),
        ("J", "JSON, one object per line"),
        ("Z", "empty values are null (-P); null is printed as NULL (-C)"),
        ("l", "records of a file, as of standard input"),
        ("T", "print sent records, as tee does"),
        ("O", "no effect, as in kcat"),
        ("u", "print each record at once"),
        ("q", "no messages about the ends of partitions"),
    ):
        parser.add_argument(f"-{letter}", help=text, **flag)  # type: ignore[arg-type]
    parser.add_argument("-h", "--help", dest="help", help="this help", **flag)  # type: ignore[arg-type]
    return parser


def parse(arguments: Sequence[str]) -> Options:
    """The options by letter, with `mode` and the other words as `rest`."""
    known = {each.option_strings[0][1]: each for each in parser()._actions}
    short = "".join(letter + (":" if each.metavar else "") for letter, each in known.items())
    try:
        given, rest = getopt.gnu_getopt(list(arguments), short, ["help"])
    except getopt.GetoptError as error:
        raise InvalidArgumentError(f"{error}. See 'holdfast kcat -h'.") from None
    options: Options = {letter: None for letter, each in known.items() if each.metavar}
    options |= {"H": [], "X": [], "t": [], "o": [], "rest": rest, "help": False}
    options |= {letter: False for letter, each in known.items() if not each.metavar}
    for option, value in given:
        letter = option[1]
        if option in ("-h", "--help"):
            options["help"] = True
        elif isinstance(options[letter], list):
            options[letter].append(value)
        else:
            options[letter] = value if known[letter].metavar else True
    options["mode"] = _mode(options)
    for letter in ("c", "p"):
        options[letter] = None if options[letter] is None else _number(options[letter], letter)
    return options


def _mode(options: Options) -> str:
    if options["G"] is not None:
        return "C"
    given = [mode for mode in "PCLQ" if options[mode]]
    if given or options["help"]:
        return given[-1] if given else "C"
    mode = "C" if sys.stdin.isatty() else "P"
    if not options["q"]:
        word = {"C": "Consumer", "P": "Producer"}[mode]
        print(
            f"% Auto-selecting {word} mode (use -P or -C to override)", file=sys.stderr, flush=True
        )
    return mode


def _number(text: str, letter: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise InvalidArgumentError(f"-{letter} {text} is not a number.") from None


def topic_of(options: Options) -> str:
    """The topic of a mode that needs one."""
    if not options["t"]:
        raise InvalidArgumentError("The topic is missing: give it with -t.")
    topic: str = options["t"][-1]
    return topic


def delimiter_of(options: Options, letter: str) -> bytes | None:
    try:
        return None if options[letter] is None else unescaped(options[letter])
    except ValueError as error:
        raise InvalidArgumentError(f"-{letter}: {error}.") from None


def metadata(connection: "Connection", topic: str | None = None) -> "ClusterMetadata":
    """What the brokers say about themselves and the topics."""
    from confluent_kafka import KafkaException

    from holdfast.client.kafka_errors import translate

    try:
        if topic is None:
            return connection.admin.list_topics(timeout=connection.settings.request_timeout)
        return connection.admin.list_topics(topic, connection.settings.request_timeout)
    except KafkaException as error:
        raise translate(error, f"Asking {connection} for metadata") from None


def _connection(options: Options) -> "Connection":
    from holdfast.client.connection import Connection
    from holdfast.client.settings import ClientSettings
    from holdfast.config import load

    properties = _file_properties(options["F"])
    for text in options["X"]:
        name, separator, value = text.partition("=")
        if not separator:
            raise InvalidArgumentError(f"-X {text} must be written as NAME=VALUE.")
        properties[name.removeprefix("topic.")] = value
    named = [properties.pop(n, None) for n in ("bootstrap.servers", "metadata.broker.list")]
    flags = {
        "bootstrap": options["b"] or named[0] or named[1],
        "request_timeout": options["m"] or 5.0,
        "client_id": "kcat",
    }
    settings = load(ClientSettings, "client", flags=flags)
    settings.kafka.update(properties)
    return Connection(settings)


def _file_properties(given: str | None) -> dict[str, str]:
    usual = os.environ.get("KCAT_CONFIG") or Path.home() / ".config" / "kcat.conf"
    path = Path(given or usual)
    if given is None and not path.is_file():
        return {}
    try:
        lines = [line.strip() for line in path.read_text().splitlines()]
    except OSError as error:
        raise InvalidArgumentError(f"{path} cannot be read: {error.strerror}.") from None
    pairs = [line.partition("=") for line in lines if line and not line.startswith("#")]
    return {name.strip().removeprefix("topic."): value.strip() for name, _, value in pairs}


def _produce(connection: "Connection", options: Options) -> None:
    from holdfast.cli.sending import Sender
    from holdfast.client.producer import Producer

    topic, key_delimiter = topic_of(options), delimiter_of(options, "K")
    fixed = None if options["k"] is None else os.fsencode(options["k"])
    headers = [_header(text) for text in options["H"]]
    partition = -1 if options["p"] is None else options["p"]
    codec = {"compression.type": options["z"]} if options["z"] else {}
    metadata(connection, topic)
    producer = Producer(connection, kafka={**codec, **connection.settings.kafka})
    with Sender(producer, topic, prefix="% ") as sender:
        for piece in _pieces(options):
            if sender.count == options["c"]:
                break
            key, value = fixed, piece
            if key_delimiter is not None:
                found, value = split_key(piece, key_delimiter)
                key = fixed if found is None or (options["Z"] and not found) else found
            sent = None if options["Z"] and not value else value
            sender.send(sent, key, headers or None, partition=partition)
            if options["T"]:
                sys.stdout.buffer.write(piece)
                sys.stdout.buffer.flush()


def _pieces(options: Options) -> Iterator[bytes]:
    """Whole files, or the pieces of one stream. Empty ones are left out."""
    delimiter = delimiter_of(options, "D") or b"\n"
    files = [Path(name) for name in options["rest"]]
    if options["l"] and len(files) > 1:
        raise InvalidArgumentError("With -l there is one file.")
    try:
        if not files:
            pieces = split(sys.stdin.buffer, delimiter)
        elif options["l"]:
            with files[0].open("rb") as stream:
                pieces = iter(list(split(stream, delimiter)))
        else:
            pieces = (file.read_bytes() for file in files)
        yield from filter(None, pieces)
    except OSError as error:
        raise InvalidArgumentError(f"{error.filename} cannot be read: {error.strerror}.") from None


def _header(text: str) -> tuple[str, bytes | None]:
    name, separator, value = text.partition("=")
    return name, os.fsencode(value) if separator else None


def _list(connection: "Connection", options: Options) -> None:
    topic = options["t"][-1] if options["t"] else None
    found = metadata(connection, topic)
    if found.orig_broker_id < 0:  # the first answer, before librdkafka knew whose it was
        found = metadata(connection, topic)
    topics = list(found.topics.values())
    if options["J"]:
        print(json.dumps(_described(found, topic), separators=(",", ":")), end="")
        return
    print(
        f"Metadata for {topic or 'all topics'} "
        f"(from broker {found.orig_broker_id}: {found.orig_broker_name}):"
    )
    print(f" {len(found.brokers)} brokers:")
    for broker in found.brokers.values():
        mark = " (controller)" if broker.id == found.controller_id else ""
        print(f"  broker {broker.id} at {broker.host}:{broker.port}{mark}")
    print(f" {len(topics)} topics:")
    for each in topics:
        print(f'  topic "{each.topic}" with {len(each.partitions)} partitions:{_fault(each)}')
        for p in each.partitions.values():
            replicas, isrs = (",".join(map(str, ids)) for ids in (p.replicas, p.isrs))
            print(
                f"    partition {p.id}, leader {p.leader}, replicas: {replicas}, isrs: {isrs}"
                f"{_fault(p, ',')}"
            )


def _fault(part: Any, before: str = "") -> str:
    return f"{before} {part.error.str()}" if part.error else ""


def _described(found: "ClusterMetadata", topic: str | None) -> dict[str, Any]:
    return {
        "originating_broker": {"id": found.orig_broker_id, "name": found.orig_broker_name},
        "query": {"topic": topic or "*"},
        "controllerid": found.controller_id,
        "brokers": [{"id": b.id, "name": f"{b.host}:{b.port}"} for b in found.brokers.values()],
        "topics": [_described_topic(each) for each in found.topics.values()],
    }


def _described_topic(topic: "TopicMetadata") -> dict[str, Any]:
    return {
        "topic": topic.topic,
        **({"error": topic.error.str()} if topic.error else {}),
        "partitions": [
            {
                "partition": p.id,
                **({"error": p.error.str()} if p.error else {}),
                "leader": p.leader,
                "replicas": [{"id": each} for each in p.replicas],
                "isrs": [{"id": each} for each in p.isrs],
            }
            for p in topic.partitions.values()
        ],
    }


def _query(connection: "Connection", options: Options) -> None:
    from confluent_kafka import KafkaException, TopicPartition

    from holdfast.client.kafka_errors import translate

    topic_of(options)
    wanted = []
    for text in options["t"]:
        words = text.rsplit(":", 2)
        if len(words) < 3:
            raise InvalidArgumentError(f"-t {text} must be TOPIC:PARTITION:MILLISECONDS.")
        wanted.append(TopicPartition(words[0], _number(words[1], "t"), _number(words[2], "t")))
    reader = connection.reader()
    try:
        found = reader.offsets_for_times(wanted, connection.settings.request_timeout)
        for each in found:
            if each.error:
                raise translate(each.error, f"Looking up an offset of {each.topic}")
    except KafkaException as error:
        raise translate(error, "Looking offsets up") from None
    finally:
        reader.close()
    if options["J"]:
        tree: dict[str, dict[str, Any]] = {}
        for each in found:
            place = {"partition": each.partition, "offset": _offset(each.offset)}
            tree.setdefault(each.topic, {"topic": each.topic})[str(each.partition)] = place
        print(json.dumps(tree, separators=(",", ":")), end="")
        return
    for each in found:
        print(f"{each.topic} [{each.partition}] offset {_offset(each.offset)}")


def _offset(offset: int) -> int:
    return max(offset, -1)
