"""Every verb of the command line, run as a process, over both brokers."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.brokers import BrokerProcess
from tests.clients import DEADLINE_S, wait_until

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
            capture_output=True, timeout=DEADLINE_S, check=False, env=environment(kafka),
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


def test_produced_records_are_consumed(holdfast: Run, topic: str) -> None:
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


def test_json_of_consume_can_be_produced(holdfast: Run, kafka: BrokerProcess, topic: str) -> None:
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
def test_bad_line_is_named_and_earlier_lines_are_sent(
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


def test_bytes_that_are_not_text_stay_the_same(holdfast: Run, topic: str) -> None:
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


def test_produce_and_consume_with_habits_from_other_tools(
    holdfast: Run, topic: str, tmp_path: Path
) -> None:
    holdfast("topic", "create", topic, "-p", "2")
    whole = tmp_path / "whole"
    whole.write_bytes(b"two\nlines\n")
    to_one = ("produce", topic, "-p", "1")
    holdfast(*to_one, "-K", r"\t", "--null", "-", "-H", "a=1", text="k\tv\n-\t-\n")
    holdfast(*to_one, "-D", r"\x00", "-z", "zstd", "-X", "linger.ms=1", text="x\ny\0z")
    holdfast(*to_one, "-k", "-", str(whole))
    shown = holdfast("consume", topic, "-f", "%p %k %s|")
    assert shown.stdout == "1 k v|1 NULL NULL|1 NULL x\ny|1 NULL z|1 - two\nlines\n|"
    last = holdfast("consume", topic, "--from", "-2", "--null", "none", "-f", "%k %s|")
    assert last.stdout == "none z|- two\nlines\n|"
    first = ("consume", topic, "--from", "beginning", "-n", "2", "-q")
    assert holdfast(*first, "--null", "~", "--print-headers").stdout == "a=1\tv\na=1\t~\n"
    assert holdfast(*first).stdout == "v\n\n"
    assert "--from" in holdfast("consume", topic, "-o", "beginning", code=2).stderr
    assert rows(holdfast("topic", "offsets", topic)) == [["0", "0"], ["1", "5"]]
    assert rows(holdfast("topic", "offsets", topic, "--at", "-2")) == [["0", "0"], ["1", "3"]]
    assert rows(holdfast("topic", "offsets", topic, "--at", "1h")) == [["0", "0"], ["1", "0"]]
    holdfast("topic", "offsets", f"{topic}-none", code=3)
    holdfast("produce", topic, "-p", "7", text="x\n", code=3)
    assert "no-such" in holdfast("topic", "ls", "-X", "no-such=1", code=2).stderr


def test_several_topics_are_read_at_once_by_name_or_pattern(
    holdfast: Run, client: sdk.Client, topic: str
) -> None:
    for name in ("a", "b", "c"):
        client.topics.create(f"{topic}-{name}")
        client.send(f"{topic}-{name}", name).result()

    def values(*topics: str) -> list[str]:
        return sorted(holdfast("consume", *topics).stdout.split())

    assert values(f"{topic}-a", f"{topic}-c") == ["a", "c"]
    assert values(f"^{topic}-[ab]$", f"{topic}-a") == ["a", "b"]
    assert "No topic matches" in holdfast("consume", "^none-of-these", code=3).stderr
    assert "not a regular expression" in holdfast("consume", "^(", code=2).stderr
    line = holdfast("consume", f"^{topic}-b", "-o", "table", "--print-headers").stdout
    assert f"{topic}-b" in line


def test_consume_in_a_group_resumes_at_its_offset(holdfast: Run, topic: str, group: str) -> None:
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
    assert [group, "empty", "classic", "6"] in rows(holdfast("group", "ls"))
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
    assert holdfast("flow", "list").stdout == holdfast("flow", "ls").stdout
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
    holdfast("skip", flow_name, "0", "5", "9", code=2)
    assert "command\tskip" in holdfast("skip", flow_name, "0", "5", "9", "--yes").stdout
    assert json.loads(holdfast("held", flow_name, "-o", "json").stdout) == []
    assert "state\tACTIVE" in holdfast("status", flow_name, "a").stdout


def test_many_keys_come_from_arguments_standard_input_and_a_file(
    holdfast: Run, flow_name: str, tmp_path: Path
) -> None:
    holdfast("flow", "create", flow_name, "-p", "2", "--require-reasons", "--no-sending")
    listed = tmp_path / "keys.txt"
    listed.write_text("d\n\n e\t\nd\n")
    asked = holdfast(
        "hold", flow_name, "a", "b c", "-", "--keys", str(listed), "--name", "fraud", "-r", "why",
        "-o", "json", text="c\r\n\na\n",
    )  # fmt: skip
    assert [row["key"] for row in json.loads(asked.stdout)] == ["a", "b c", "c", "d", "e"]
    assert "white space around 1 of 5 keys is left out (␠e⇥)" in asked.stderr
    kept = holdfast("hold", flow_name, "-", "--keep-space", "-r", "why", "-o", "json", text=" e\nf")
    assert [row["key"] for row in json.loads(kept.stdout)] == [" e", "f"]
    assert "requires a reason" in holdfast("hold", flow_name, "a", code=2).stderr
    assert "--empty-key" in holdfast("hold", flow_name, "", "-r", "why", code=2).stderr
    assert "offset\t7" in holdfast("hold", flow_name, "--empty-key", "-r", "why").stdout
    assert "which keys?" in holdfast("hold", flow_name, "-r", "why", code=2).stderr
    assert holdfast("hold", flow_name, "-", "-r", "why", text="\n").stdout == ""
    holdfast("hold", flow_name, "a", "b", "--id", "one", "-r", "why", code=2)
    assert holdfast("release", flow_name, "--name", "fraud", "-r", "why").stdout == ""
    waited = holdfast("release", flow_name, "a", "d", "--all", "-r", "why", "-w", "0.5", code=1)
    assert "2 of 2 commands did not become effective" in waited.stderr
    assert [row[0] for row in rows(waited)] == ["a", "d"]
    assert "needs a reason" not in waited.stderr


def test_flow_and_key_verbs_with_bad_input(holdfast: Run, flow_name: str) -> None:
    holdfast("flow", "create", "Not_A_Name", code=2)
    for arguments in (
        ("flow", "describe", flow_name),
        ("hold", flow_name, "a"),
        ("release", flow_name, "a"),
        ("dead-letter", flow_name, "a", "--yes"),
        ("void", flow_name, "0", "--yes"),
        ("skip", flow_name, "0", "5", "9", "--yes"),
        ("held", flow_name),
        ("status", flow_name, "a"),
    ):
        assert "There is no flow" in holdfast(*arguments, code=3).stderr
    holdfast("flow", "create", flow_name, "-p", "1")
    assert "already" in holdfast("flow", "create", flow_name, "-p", "1", code=1).stderr
    holdfast("skip", flow_name, "1", "5", "9", "--yes", code=2)  # it has one partition
    holdfast("skip", flow_name, "0", "9", "5", "--yes", code=2)
    holdfast("hold", flow_name, "%%", "--base64", code=2)
    holdfast("release", flow_name, "a", "--pace", "0", code=2)
    holdfast("hold", flow_name, "a", "--id", "no spaces", code=2)
    holdfast("held", flow_name, "--events", code=2)
    holdfast("held", flow_name, "a", "--events", "--after", "there", code=2)


def test_doctor_reports_no_problem_with_a_broker(holdfast: Run) -> None:
    findings = json.loads(holdfast("doctor", "-o", "json").stdout)
    checks = [finding["check"] for finding in findings]
    assert checks == ["python", "parts", "jdk", "jars", "port", "broker", "disk"]
    assert all(f["fine"] for f in findings), findings


def test_closed_pipe_is_not_an_error(kafka: BrokerProcess, client: sdk.Client, topic: str) -> None:
    for _ in range(20_000):
        client.send(topic, b"x" * 100)
    client.close()
    script = f"{' '.join(command('consume', topic))} | head -n 3; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(
        ["bash", "-c", script], capture_output=True, text=True, timeout=DEADLINE_S, check=True,
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
        _, err = process.communicate(timeout=DEADLINE_S)
    finally:
        process.kill()
    assert err == b""
    assert process.returncode == 130
    assert [g.state for g in client.groups.list() if g.name == group] in (["empty"], [])


def test_sigterm_of_a_tail_commits_and_leaves_the_group(
    kafka: BrokerProcess, client: sdk.Client, topic: str, group: str
) -> None:
    client.topics.create(topic)
    for n in range(3):
        client.send(topic, str(n)).result()
    process = subprocess.Popen(
        command("consume", topic, "--group", group, "--tail"),
        stdout=subprocess.PIPE, env=environment(kafka),
    )  # fmt: skip
    assert process.stdout is not None
    assert [process.stdout.readline() for _ in range(3)] == [b"0\n", b"1\n", b"2\n"]
    time.sleep(0.5)  # the third is done when the fourth is asked for
    process.send_signal(signal.SIGTERM)
    assert process.wait(DEADLINE_S) == 143
    described = client.groups.describe(group)
    assert described.members == ()
    assert [lag.committed for lag in described.lag] == [3]


def test_produce_reports_a_failed_record_while_the_input_continues(
    kafka: BrokerProcess, client: sdk.Client, topic: str
) -> None:
    client.topics.create(topic, config={"max.message.bytes": "1000"})
    process = subprocess.Popen(
        command("produce", topic), stdin=subprocess.PIPE, stderr=subprocess.PIPE,
        env=environment(kafka),
    )  # fmt: skip
    assert process.stdin is not None
    assert process.stderr is not None
    process.stdin.write(b"fits\n")
    process.stdin.flush()
    wait_until(lambda: client.topics.ranges(topic)[0].end == 1, "the first record", 60)
    process.stdin.write(b"x" * 5_000 + b"\n")
    process.stdin.flush()
    first = process.stderr.readline()  # the input is still open
    assert b"record 2" in first
    process.stdin.write(b"fits, too\n")
    _, errors = process.communicate(timeout=DEADLINE_S)
    assert process.returncode == 1
    assert b"1 of 3 records did not arrive" in errors
    with client.consumer(topic) as consumer:
        assert [r.text() for r in consumer.records(until="end")] == ["fits", "fits, too"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_produce_that_is_ended_by_a_signal_sends_what_it_has_read(
    kafka: BrokerProcess, client: sdk.Client, topic: str, number: signal.Signals
) -> None:
    client.topics.create(topic)
    process = subprocess.Popen(
        command("produce", topic), stdin=subprocess.PIPE, stderr=subprocess.PIPE,
        env=environment(kafka),
    )  # fmt: skip
    assert process.stdin is not None
    process.stdin.write(b"".join(b"%d\n" % n for n in range(1_000)))
    process.stdin.flush()
    wait_until(lambda: client.topics.ranges(topic)[0].end == 1_000, "all that was read", 60)
    process.send_signal(number)
    _, errors = process.communicate(timeout=DEADLINE_S)
    assert process.returncode == 128 + number
    assert errors == b""


def test_lag_of_a_group_that_has_committed_nothing_is_unknown(
    holdfast: Run, client: sdk.Client, topic: str, group: str
) -> None:
    client.topics.create(topic)
    client.send(topic, "unread").result()
    with client.consumer(topic, group=group, auto_commit=False) as consumer:
        list(consumer.records(limit=1))
        assert client.groups.describe(group).total_lag is None
        assert client.groups.total_lags([group]) == {group: None}
        assert json.loads(holdfast("group", "describe", group, "-o", "json").stdout)["lag"] is None
        assert ["lag", "- (nothing is committed)"] in rows(holdfast("group", "describe", group))
        consumer.commit()
        assert client.groups.describe(group).total_lag == 0
        assert client.groups.total_lags([group]) == {group: 0}


def test_list_is_an_alias_of_ls(holdfast: Run, topic: str) -> None:
    holdfast("topic", "create", topic)
    assert [topic, "1", "1"] in rows(holdfast("topic", "list"))
    for name in ("topic", "group", "flow", "run"):
        listed = [holdfast(name, verb, "-o", "json").stdout for verb in ("ls", "list")]
        assert listed[0] == listed[1]
        assert "ls, list" in holdfast(name, "--help").stdout
    assert "ls, list" in holdfast("token", "--help").stdout
