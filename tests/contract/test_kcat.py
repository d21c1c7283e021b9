"""`holdfast kcat` prints what kcat prints, and sends what kcat sends, on the same broker."""

import io
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.brokers import BrokerProcess
from tests.clients import DEADLINE_S, create_topic, read

from holdfast.cli import main

pytestmark = pytest.mark.skipif(
    not shutil.which("kcat"), reason="kcat is missing: `make kcat` installs it (Debian: kcat)"
)

Ran = tuple[int, bytes, bytes]
"""Exit code, standard output and standard error."""
Run = Callable[..., Ran]


def kcat(*arguments: str, text: bytes = b"") -> Ran:
    done = subprocess.run(
        ["kcat", *arguments], input=text, capture_output=True, check=False, timeout=DEADLINE_S
    )
    return done.returncode, done.stdout, done.stderr


@pytest.fixture
def ours(monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]) -> Run:
    """Run it in this process. Only what Python writes counts: clients that other tests left behind
    write to the same file descriptor, through librdkafka."""

    def run(*arguments: str, text: bytes = b"") -> Ran:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text)))
        capsysbinary.readouterr()
        code = main(["kcat", *arguments])
        out, err = capsysbinary.readouterr()
        return code, out, err

    return run


@pytest.fixture
def filled(kafka: BrokerProcess, topic: str) -> str:
    """A topic with odd records: null and empty keys and values, headers, control characters."""
    create_topic(kafka, topic)
    to = ("-P", "-b", kafka.bootstrap, "-t", topic)
    kcat(*to, "-K:", "-Z", "-H", "a=1", "-H", "b=", "-H", "c", text=b"k1:v1\nnokey\n:empty\nk2:\n")
    kcat(*to, text=b'\x01\x1f"\\/\x7f\xc3\xa9\tx\r\n\xff\xfe\n')
    return topic


@pytest.mark.parametrize(
    "flags",
    [
        (), ("-K:",), ("-K:", "-Z"), ("-K", r"\t", "-D", r"|\x0a"), ("-J",), ("-Z", "-O", "-u"),
        ("-q",), ("-c2",), ("-o", "-2"), ("-o-2",), ("-o", "3"), ("-o", "end"), ("-p", "0"),
        ("-o", "s@1"), ("-o", "e@1"), ("-qf", r"%t %p %o %k %K %s %S %R %T %h %%\x41\n"),
        ("-Zqf", r"%k|%s\n"),
    ],
    ids=" ".join,
)  # fmt: skip
def test_consumed_records_look_the_same(
    kafka: BrokerProcess, filled: str, ours: Run, flags: tuple[str, ...]
) -> None:
    arguments = ("-C", "-b", kafka.bootstrap, "-t", filled, "-e", *flags)
    assert ours(*arguments) == kcat(*arguments)


def test_metadata_and_offsets_look_the_same(
    kafka: BrokerProcess, filled: str, topic: str, ours: Run
) -> None:
    wide = create_topic(kafka, f"{topic}-wide", 3)
    at = ("-b", kafka.bootstrap)
    for arguments in (
        ("-L", *at, "-t", wide),
        ("-L", "-J", *at, "-t", wide),
        ("-Q", *at, "-t", f"{filled}:0:0", "-t", f"{wide}:2:0"),
        ("-Q", *at, "-t", f"{filled}:0:-1"),
        ("-Q", *at, "-t", f"{filled}:0:99999999999999"),
        ("-QJ", *at, "-t", f"{filled}:0:0", "-t", f"{wide}:0:0"),
    ):
        assert ours(*arguments) == kcat(*arguments)
    assert ours("-L", *at)[1].count(b" topic ") == kcat("-L", *at)[1].count(b" topic ") > 1


@pytest.mark.parametrize(
    ("text", "flags"),
    [
        (b"a\n\nb\r\nc", ()),
        (b"k:v\n:v\nk:\nnok\na:b:c\n", ("-K:",)),
        (b"k:v\n:v\nk:\n", ("-K:", "-k", "fix", "-Z")),
        (b"aXXbXXc\n", ("-DXX", "-k", "", "-H", "x=y=z", "-H", "none")),
        (b"a\nb\nc\n", ("-c", "2", "-T")),
        (b"a\tb\n", ("-K", r"\t", "-z", "lz4", "-p", "1")),
        (b"", ("FILE", "FILE")),
        (b"", ("-l", "FILE")),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_produced_records_are_the_same(
    kafka: BrokerProcess, topic: str, ours: Run, tmp_path: Path, text: bytes, flags: tuple[str, ...]
) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"two\nlines\n")
    arguments = [str(file) if flag == "FILE" else flag for flag in flags]
    sent = []
    for number, run in enumerate((kcat, ours)):
        name = create_topic(kafka, f"{topic}-{number}", 2 if "-p" in flags else 1)
        ran = run("-P", "-b", kafka.bootstrap, "-t", name, *arguments, text=text)
        partition = 1 if "-p" in flags else 0
        records = [(m.key(), m.value(), m.headers()) for m in read(kafka, name, partition)]
        sent.append((ran, records))
    assert sent[0] == sent[1]
    assert sent[1][1]


def test_a_group_continues_where_kcat_left_it(
    kafka: BrokerProcess, filled: str, group: str, ours: Run
) -> None:
    arguments = ("-G", group, "-b", kafka.bootstrap, filled, "-q")
    assert kcat(*arguments, "-c2", "-o", "beginning") == (0, b"v1\nnokey\n", b"")
    assert ours(*arguments, "-c2") == (0, b"empty\n\n", b"")
    assert kcat(*arguments, "-c1")[1].startswith(b"\x01\x1f")
    assert ours(*arguments, "-c1", "-o", "beginning") == (0, b"v1\n", b"")
    assert ours(*arguments, "-c1", "-o", "s@1") == (0, b"v1\n", b"")
    assert kcat(*arguments, "-c1") == (0, b"nokey\n", b"")


@pytest.mark.parametrize(
    "arguments",
    [
        ("-C",), ("-Y",), ("-C", "-t", "TOPIC", "-p", "9"), ("-Q", "-t", "TOPIC"),
        ("-P", "-t", "TOPIC", "missing-file"), ("-P", "-t", "TOPIC", "-l", "a", "b"),
        ("-C", "-t", "TOPIC", "-f", "%q"), ("-C", "-t", "TOPIC", "-X", "no-such=1"),
        ("-P", "-t", "TOPIC", "-z", "nope"), ("-Q", "-t", "TOPIC:7:0"),
    ],
    ids=" ".join,
)  # fmt: skip
def test_failures_end_with_the_same_code_and_say_why(
    kafka: BrokerProcess, filled: str, ours: Run, arguments: tuple[str, ...]
) -> None:
    given = [word.replace("TOPIC", filled) for word in arguments]
    code, out, err = ours(*given, "-b", kafka.bootstrap)
    assert (code, out) == (1, b"")
    assert err.startswith(b"% ERROR: ")
    assert kcat(*given, "-b", kafka.bootstrap)[0] == 1
