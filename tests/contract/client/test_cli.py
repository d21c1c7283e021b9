"""Every verb of the command line, run as a process, over both brokers."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import pytest
from tests.brokers import BrokerProcess

import holdfast as sdk
from holdfast.flows.keys import partition_of

Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def holdfast(kafka: BrokerProcess) -> Run:
    """Runs `holdfast …` against the broker and checks its exit code."""

    def run(
        *arguments: str, text: str | bytes = "", code: int = 0
    ) -> "subprocess.CompletedProcess[str]":
        done = subprocess.run(
            command(*arguments), input=text if isinstance(text, bytes) else text.encode(),
            capture_output=True, timeout=90, check=False, env=environment(kafka),
        )  # fmt: skip
        out, err = done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")
        assert "Traceback" not in err, err
        assert done.returncode == code, f"{arguments} -> {done.returncode}:\n{out}\n{err}"
        return subprocess.CompletedProcess(arguments, done.returncode, out, err)

    return run


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "holdfast.cli", *arguments]


def environment(kafka: BrokerProcess) -> dict[str, str]:
    return {**os.environ, "HOLDFAST_CLIENT_BOOTSTRAP": kafka.bootstrap}


def rows(done: "subprocess.CompletedProcess[str]") -> list[list[str]]:
    return [line.split("\t") for line in done.stdout.splitlines()]


def objects(done: "subprocess.CompletedProcess[str]") -> list[dict[str, Any]]:
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_topic_verbs(holdfast: Run, topic: str) -> None:
    holdfast("topic", "create", topic, "-p", "3", "--set", "retention.ms=60000")
    assert [topic, "3", "1"] in rows(holdfast("topic", "ls"))
    listed = json.loads(holdfast("topic", "ls", "-o", "json").stdout)
    assert {"topic": topic, "partitions": 3, "replication": 1} in listed
    described = json.loads(holdfast("topic", "describe", topic, "-o", "json").stdout)
    assert described["settings"] == {"retention.ms": "60000"}
    assert [r["records"] for r in described["ranges"]] == [0, 0, 0]
    assert "retention.ms=60000" in holdfast("topic", "describe", topic).stdout
    holdfast("topic", "config", topic, "--set", "segment.bytes=1048576", "--unset", "retention.ms")
    settings = rows(holdfast("topic", "config", topic))
    assert ["segment.bytes", "1048576", "yes"] in settings
    assert ["retention.ms", "604800000", "no"] in settings
    assert "PARTITION" in holdfast("topic", "describe", topic, "-o", "table").stdout.upper()
    assert "give --yes" in holdfast("topic", "delete", topic, code=2).stderr
    holdfast("topic", "delete", topic, "--yes")
    assert topic in holdfast("topic", "describe", topic, code=3).stderr


def test_topic_verbs_with_bad_input(holdfast: Run, topic: str) -> None:
    holdfast("topic", "create", topic)
    assert "xists" in holdfast("topic", "create", topic, code=1).stderr
    holdfast("topic", "create", "not/a/name", code=2)
    holdfast("topic", "create", f"{topic}-x", "--set", "retention.ms=soon", code=2)
    holdfast("topic", "config", topic, "--set", "nonsense=1", code=2)
    for verb in (("describe",), ("delete", "--yes"), ("config",)):
        holdfast("topic", *verb, f"{topic}-none", code=3)


def test_what_is_produced_is_consumed(holdfast: Run, topic: str) -> None:
    holdfast("topic", "create", topic, "-p", "2")
    holdfast("produce", topic, text="one\ntwo\n\nwith spaces \r\nno newline")
    values = holdfast("consume", topic).stdout.splitlines()
    assert sorted(values) == ["", "no newline", "one", "two", "with spaces "]
    holdfast("produce", topic, "-k", "fixed", "-H", "a=1", "-H", "b=", text="three\n")
    (record,) = [r for r in objects(holdfast("consume", topic, "-o", "json")) if r["key"]]
    assert (record["key"], record["value"]) == ("fixed", "three")
    assert record["headers"] == [{"name": "a", "value": "1"}, {"name": "b", "value": ""}]
    assert record["partition"] == partition_of(b"fixed", 2)
    holdfast("produce", topic, "-K", "::", text="k::v::w\n")
    assert "k v::w\n" in holdfast("consume", topic, "-f", "%k %s\\n").stdout
    empty = holdfast("produce", topic, text="")
    assert empty.stdout == ""


def test_what_consume_prints_as_json_can_be_produced(
    holdfast: Run, kafka: BrokerProcess, topic: str
) -> None:
    """Whatever bytes it has, and though the other topic has fewer partitions."""
    headers, now = [("a", b"1"), ("a", b"\xff"), ("b", None)], round(time.time() * 1000)
    holdfast("topic", "create", topic, "-p", "3")
    with sdk.connect(kafka.bootstrap) as client:
        for number in range(12):
            client.send(topic, b"\xfe%d" % number, b"k\xff%d" % number, headers, now - number)
        client.send(topic, None, "text")
        client.send(topic, "no key")
    copy = f"{topic}-copy"
    holdfast("topic", "create", copy, "-p", "1")
    holdfast("produce", copy, "--json", text=holdfast("consume", topic, "-o", "json").stdout)

    def content(name: str) -> list[tuple[object, ...]]:
        with sdk.connect(kafka.bootstrap) as client, client.consumer(name) as consumer:
            return sorted(
                (str(r.key), r.value or b"", r.timestamp_ms or 0, str(r.headers))
                for r in consumer.records(until="end")
            )

    assert content(copy) == content(topic)
    assert len(content(copy)) == 14


def test_json_lines_carry_everything(holdfast: Run, topic: str) -> None:
    holdfast("topic", "create", topic, "-p", "2", "--set", "retention.ms=-1")
    lines = [
        {"key": "k", "value": {"id": 7}, "headers": {"h": "x"}, "timestamp": 5, "partition": 1},
        {"value": "text"},
        {"key": "gone", "value": None},
    ]
    holdfast("produce", topic, "--json", text="\n".join(map(json.dumps, lines)) + "\n\n")
    found = {r["key"]: r for r in objects(holdfast("consume", topic, "-o", "json"))}
    assert found["k"]["value"] == '{"id":7}'
    assert (found["k"]["timestamp"], found["k"]["partition"]) == (5, 1)
    assert found["k"]["headers"] == [{"name": "h", "value": "x"}]
    assert found[None]["value"] == "text"
    assert found["gone"]["value"] is None


@pytest.mark.parametrize(
    ("flags", "text", "why"),
    [
        (["--json"], '{"value":1}\n{"value":\n', "Line 2: this is not JSON"),
        (["--json"], "[1]\n", "Line 1: this must be an object"),
        (["--json"], '{"wert":1}\n', "nothing else"),
        (["--json"], '{"value":1,"key":5}\n', "key must be text"),
        (["--json"], '{"value":1,"partition":"x"}\n', "whole number"),
        (["--json"], '{"value":1,"headers":{"a":1}}\n', "object of texts"),
        (["--json"], '{"value":1,"headers":[5]}\n', "list of name and value"),
        (["--json"], '{"value":1,"headers":[{"value":"v"}]}\n', "list of name and value"),
        (["--json"], '{"value_base64":"?"}\n', "value_base64 is not base64"),
        (["--json"], '{"value":1,"value_base64":"AA=="}\n', "give one of them"),
        (["-K", ":"], "a:b\nno separator\n", "Line 2 has no ':'"),
    ],
)
def test_a_bad_line_is_named_and_what_came_before_it_is_sent(
    holdfast: Run, topic: str, flags: list[str], text: str, why: str
) -> None:
    holdfast("topic", "create", topic)
    assert why in holdfast("produce", topic, *flags, text=text, code=1).stderr
    sent = holdfast("consume", topic).stdout.splitlines()
    assert len(sent) == (1 if "Line 2" in why else 0)


def test_produce_does_not_make_topics_by_mistake(holdfast: Run, topic: str) -> None:
    done = holdfast("produce", topic, text="x\n", code=3)
    assert f"holdfast topic create {topic}" in done.stderr
    holdfast("consume", topic, code=3)
    assert topic not in holdfast("topic", "ls").stdout


def test_bytes_that_are_no_text_pass_unharmed(holdfast: Run, topic: str) -> None:
    holdfast("topic", "create", topic)
    holdfast("produce", topic, "-K", ":", text=b"\xff\xfe:\x00\x01\n")
    (record,) = objects(holdfast("consume", topic, "-o", "json"))
    assert record["key_base64"] == "//4="
    assert record["value"] == "\x00\x01"


def test_consume_from_to_count_partition_and_styles(
    holdfast: Run, client: sdk.Client, topic: str
) -> None:
    client.topics.create(topic, partitions=2)
    base = round(time.time() * 1000) - 7_200_000
    for i in range(20):
        client.send(topic, str(i), key=f"k{i}", partition=i % 2, timestamp=base + i * 60_000)
    client.close()

    def values(*arguments: str) -> list[int]:
        return sorted(map(int, holdfast("consume", topic, *arguments).stdout.split()))

    assert values() == list(range(20))
    assert len(values("-n", "7")) == 7
    assert values("-n", "0") == []
    assert values("--partition", "1") == list(range(1, 20, 2))
    assert values("--from", "8") == [16, 17, 18, 19]
    assert values("--to", "2") == [0, 1, 2, 3]
    assert values("--from", "end") == []
    assert values("-p", "0", "--from", "3", "--to", "5") == [6, 8]
    moment = time.strftime("%Y-%m-%dT%H:%M:%S+00:00", time.gmtime(base / 1000 + 15 * 60 + 1))
    assert values("--from", moment) == [16, 17, 18, 19]
    assert values("--from", "1h") == []
    assert values("--from", "3h") == list(range(20))
    line = holdfast("consume", topic, "-p", "0", "-n", "1", "-o", "table").stdout
    assert "0:0" in line
    assert "k0" in line
    assert holdfast("consume", topic, "-p", "1", "-n", "1", "-f", "%t/%p/%o/%K/%S\n").stdout == (
        f"{topic}/1/0/2/1\n"
    )
    assert "no partition 9" in holdfast("consume", topic, "-p", "9", code=3).stderr
    assert "no offset 99" in holdfast("consume", topic, "-p", "0", "--from", "99", code=3).stderr


def test_consume_in_a_group_goes_on_where_it_was(holdfast: Run, topic: str, group: str) -> None:
    holdfast("topic", "create", topic)
    holdfast("produce", topic, text="".join(f"{i}\n" for i in range(10)))
    assert holdfast("consume", topic, "-g", group, "-n", "4").stdout.split() == list("0123")
    assert holdfast("consume", topic, "-g", group).stdout.split() == list("456789")
    assert holdfast("consume", topic, "-g", group).stdout == ""
    assert holdfast("consume", topic, "-g", group, "--from", "8").stdout.split() == ["8", "9"]


def test_group_verbs(holdfast: Run, topic: str, group: str) -> None:
    holdfast("topic", "create", topic)
    holdfast("produce", topic, text="".join(f"{i}\n" for i in range(10)))
    holdfast("consume", topic, "-g", group, "-n", "4")
    assert [group, "empty"] in rows(holdfast("group", "ls"))
    described = json.loads(holdfast("group", "describe", group, "-o", "json").stdout)
    assert (described["state"], described["lag"]) == ("empty", 6)
    assert described["partitions"][0]["committed"] == 4
    assert described["partitions"][0]["seconds"] >= 0
    planned = rows(holdfast("group", "reset", group, "--to", "start", "--dry-run"))
    assert planned == [[topic, "0", "4", "0"]]
    assert "give --yes" in holdfast("group", "reset", group, "--to", "start", code=2).stderr
    assert json.loads(holdfast("group", "describe", group, "-o", "json").stdout)["lag"] == 6
    holdfast("group", "reset", group, "--to", "2", "--yes", "--topic", topic)
    assert json.loads(holdfast("group", "describe", group, "-o", "json").stdout)["lag"] == 8
    holdfast("group", "reset", group, "--to", "1h", "--yes")
    assert json.loads(holdfast("group", "describe", group, "-o", "json").stdout)["lag"] == 10
    holdfast("group", "delete", group, code=2)
    holdfast("group", "delete", group, "--yes")
    for verb in (("describe",), ("delete", "--yes"), ("reset", "--to", "start", "--yes")):
        holdfast("group", *verb, group, code=3)


def test_flow_and_key_verbs(holdfast: Run, flow_name: str) -> None:
    holdfast("flow", "create", flow_name, "-p", "2", "--key-events", "5", "--schema", "id BIGINT")
    assert flow_name in [row[0] for row in rows(holdfast("flow", "ls"))]
    described = json.loads(holdfast("flow", "describe", flow_name, "-o", "json").stdout)
    assert (described["partitions"], described["key events"]) == (2, 5)
    assert described["schema"] == "id BIGINT"
    holdfast("flow", "set", flow_name, "--no-schema")
    described = json.loads(holdfast("flow", "describe", flow_name, "-o", "json").stdout)
    assert (described["schema"], described["key events"]) == (None, 5)
    asked = json.loads(
        holdfast("hold", flow_name, "a", "--reason", "why", "--expires", "2h", "-o", "json").stdout
    )
    assert (asked["command"], asked["offset"], asked["cut"]) == ("hold", 0, None)
    assert "offset\t1" in holdfast("release", flow_name, "a", "--pace", "10").stdout
    holdfast("dead-letter", flow_name, "a", code=2)
    holdfast("dead-letter", flow_name, "//4=", "--base64", "--yes")
    waited = holdfast("hold", flow_name, "a", "--wait", "0.5", code=1)
    assert "did not become effective" in waited.stderr
    assert "offset\t3" in waited.stdout
    holdfast("void", flow_name, "2", code=2)
    assert "command\tvoid" in holdfast("void", flow_name, "2", "--yes").stdout
    assert json.loads(holdfast("held", flow_name, "-o", "json").stdout) == []
    assert "state\tACTIVE" in holdfast("status", flow_name, "a").stdout


def test_flow_and_key_verbs_with_bad_input(holdfast: Run, flow_name: str) -> None:
    holdfast("flow", "create", "Not_A_Name", code=2)
    for arguments in (
        ("flow", "describe", flow_name),
        ("hold", flow_name, "a"),
        ("release", flow_name, "a"),
        ("dead-letter", flow_name, "a", "--yes"),
        ("void", flow_name, "0", "--yes"),
        ("held", flow_name),
        ("status", flow_name, "a"),
    ):
        assert "There is no flow" in holdfast(*arguments, code=3).stderr
    holdfast("flow", "create", flow_name, "-p", "1")
    assert "already" in holdfast("flow", "create", flow_name, "-p", "1", code=1).stderr
    holdfast("hold", flow_name, "%%", "--base64", code=2)
    holdfast("release", flow_name, "a", "--pace", "0", code=2)
    holdfast("hold", flow_name, "a", "--id", "no spaces", code=2)
    holdfast("held", flow_name, "--events", code=2)
    holdfast("held", flow_name, "a", "--events", "--after", "there", code=2)


def test_the_doctor_is_content_with_a_broker(holdfast: Run) -> None:
    findings = json.loads(holdfast("doctor", "-o", "json").stdout)
    assert {f["check"] for f in findings} == {"python", "jdk", "jars", "port", "broker", "disk"}
    assert all(f["fine"] for f in findings), findings


def test_a_pipe_that_closes_early_is_no_error(
    kafka: BrokerProcess, client: sdk.Client, topic: str
) -> None:
    for _ in range(20_000):
        client.send(topic, b"x" * 100)
    client.close()
    script = f"{' '.join(command('consume', topic))} | head -n 3; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(
        ["bash", "-c", script], capture_output=True, text=True, timeout=60, check=True,
        env=environment(kafka),
    )  # fmt: skip
    assert done.stdout.splitlines() == ["x" * 100] * 3 + ["0"]
    assert done.stderr == ""


def test_ctrl_c_ends_a_tail_cleanly_and_leaves_the_group(
    kafka: BrokerProcess, client: sdk.Client, topic: str, group: str
) -> None:
    client.topics.create(topic)
    client.send(topic, "first").result()
    process = subprocess.Popen(
        command("consume", topic, "--tail", "--group", group, "-f", "%s\\n"),
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment(kafka),
    )  # fmt: skip
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == b"first\n"
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=30)
    finally:
        process.kill()
    assert err == b""
    assert process.returncode == 130
    assert [g.state for g in client.groups.list() if g.name == group] in (["empty"], [])
