"""The first word of the command line, without a broker."""

import subprocess
import sys
from pathlib import Path

import pytest

from holdfast.cli import main
from holdfast.cli.catalogue import BY_NAME
from holdfast.cli.completion import words
from holdfast.cli.program import exit_code
from holdfast.errors import (
    ConfigError,
    HoldfastError,
    InvalidArgumentError,
    NotFoundError,
    TimedOutError,
    UnavailableError,
    UnreachableError,
)
from holdfast.jars import SPARK, VARIABLE, jar_folder, jars, listed


def holdfast(*arguments: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-m", "holdfast.cli", *arguments],
        capture_output=True, text=True, timeout=60, check=False, stdin=subprocess.DEVNULL,
    )  # fmt: skip


def test_the_overview_names_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    shown = capsys.readouterr().out
    for command in BY_NAME.values():
        assert f"  {command.name} " in shown
        assert command.help in shown


def test_no_command_at_all_is_a_usage_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 2
    assert "Usage" in capsys.readouterr().out


def test_a_typing_error_gets_a_suggestion(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["toppic"]) == 2
    assert "Did you mean 'topic'?" in capsys.readouterr().err


def test_option_before_the_command_gets_a_hint(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--bootstrap", "localhost:9092", "topic", "ls"]) == 2
    assert "options follow the command" in capsys.readouterr().err


def test_version_is_printed() -> None:
    assert holdfast("--version").stdout.startswith("holdfast 0.")


def test_the_package_itself_runs_as_the_command() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "holdfast", "--help"], capture_output=True, text=True, check=True
    )
    assert done.stdout == holdfast("--help").stdout


def test_up_names_missing_extras_before_it_starts_a_process(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    from holdfast import extras

    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    assert main(["up"]) == 2
    assert "apt-get install openjdk-17" in capsys.readouterr().err
    monkeypatch.setattr(extras, "find_spec", lambda module: None if module == "uvloop" else module)
    assert main(["up"]) == 1
    assert "pip install 'holdfast[broker]'" in capsys.readouterr().err
    assert main(["up", "--kafka", "localhost:1"]) == 2  # the broker is not needed: Java is
    assert list(tmp_path.iterdir()) == []


def test_first_up_fetches_the_jars_and_the_next_does_not(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    present = str(jar_folder(SPARK))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    monkeypatch.setenv("HOLDFAST_JARS_REPOSITORY", present)
    monkeypatch.setattr("holdfast.up.command.run", lambda settings, config: len(jars(SPARK)))
    assert main(["up"]) == len(listed())
    assert f"MB of jars from {present}" in capsys.readouterr().err
    assert main(["up"]) == len(listed())
    assert capsys.readouterr().err == ""


def test_the_overview_imports_no_more_than_it_prints() -> None:
    script = (
        "import sys; from holdfast.cli import main; main(['--help']);"
        "print([m for m in ('typer', 'rich', 'confluent_kafka', 'pyspark', 'fastapi', 'asyncio',"
        " 'dataclasses', 'inspect') if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.splitlines()[-1] == "[]"


def test_the_broker_command_does_not_wait_for_typer_or_librdkafka() -> None:
    script = (
        "import sys, holdfast.cli.broker;"
        "print([m for m in ('typer', 'rich', 'confluent_kafka') if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("name", list(BY_NAME))
def test_every_command_has_help_with_an_example(name: str) -> None:
    shown = holdfast(name, "--help")
    assert shown.returncode == 0
    verbs = [verb for verb in words()[name] if f"{name} {verb}" in words()]
    for verb in verbs:
        shown = holdfast(name, verb, "--help")
        assert shown.returncode == 0
        assert "Example" in shown.stdout, (name, verb)
    assert verbs or "xample" in shown.stdout


@pytest.mark.parametrize(
    "arguments",
    [
        ("topic", "lz"),
        ("topic", "create"),
        ("topic", "create", "t", "-p", "0"),
        ("topic", "create", "t", "--set", "novalue"),
        ("consume", "t", "--from", "yesterday"),
        ("consume", "t", "-n", "x"),
        ("consume", "t", "-f", "%q"),
        ("consume", "t", "-f", "%s", "-o", "json"),
        ("consume", "t", "--tail", "--to", "end"),
        ("produce", "t", "--json", "--key", "k"),
        ("produce", "t", "-K", ""),
        ("produce", "t", "-H", "x"),
        ("group", "reset", "g"),
        ("group", "reset", "g", "--to", "nowhere"),
        ("hold", "f"),
        ("hold", "f", "k", "--expires", "soon"),
        ("hold", "f", "%%", "--base64", "--bootstrap", "not an address"),
        ("completion", "tcsh"),
        ("broker", "--set", "nonsense=1"),
        ("broker", "--flush", "never"),
        ("topic", "ls", "--bootstrap", "http://x"),
        ("topic", "ls", "--config", "/nonexistent.toml"),
    ],
)
def test_usage_error_is_exit_code_2_with_a_message(arguments: tuple[str, ...]) -> None:
    done = holdfast(*arguments)
    assert done.returncode == 2, done.stderr
    assert "Traceback" not in done.stderr
    assert done.stderr.strip()


def test_an_unreachable_broker_is_exit_code_4() -> None:
    done = holdfast("topic", "ls", "-b", "127.0.0.1:1")
    assert done.returncode == 4
    assert "127.0.0.1:1" in done.stderr
    assert "holdfast broker" in done.stderr


def test_doctor_reports_a_missing_broker_and_how_to_fix_it() -> None:
    done = holdfast("doctor", "-b", "127.0.0.1:1")
    assert done.returncode == 1
    lines = [line.split("\t") for line in done.stdout.splitlines()]
    assert ["ok", "python"] in [line[:2] for line in lines]
    assert ["bad", "broker"] in [line[:2] for line in lines]
    fix = next(line for line in lines if line[:2] == ["fix", "broker"])
    assert "holdfast broker" in fix[2]


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (UnreachableError("x"), 4),
        (NotFoundError("x"), 3),
        (ConfigError("x"), 2),
        (InvalidArgumentError("x"), 2),
        (UnavailableError("x"), 1),
        (TimedOutError("a receipt"), 1),
    ],
)
def test_errors_become_the_documented_exit_codes(error: HoldfastError, code: int) -> None:
    assert exit_code(error) == code


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts_name_commands_verbs_and_options(shell: str) -> None:
    script = holdfast("completion", shell).stdout
    for word in ("dead-letter", "describe", "key-separator", "dry-run"):
        assert word in script


def test_bash_completion_offers_commands_and_options(tmp_path: object) -> None:
    script = holdfast("completion", "bash").stdout

    def complete(*typed: str) -> list[str]:
        lines = f'{script}\nCOMP_WORDS=({" ".join(typed)} "{""}")\nCOMP_CWORD={len(typed)}\n'
        done = subprocess.run(
            ["bash", "-c", f'{lines}_holdfast; echo "${{COMPREPLY[@]}}"'],
            capture_output=True, text=True, check=True,
        )  # fmt: skip
        return done.stdout.split()

    assert complete("holdfast") == list(BY_NAME)
    verbs = ["ls", "list", "create", "describe", "offsets", "delete", "config"]
    assert complete("holdfast", "topic") == verbs
    assert "--dry-run" in complete("holdfast", "group", "reset")
    assert "--format" in complete("holdfast", "consume", "orders")


@pytest.mark.parametrize(
    ("missing", "extra", "arguments"),
    [
        ("uvicorn", "web", ["web"]),
        ("pyspark", "pipeline", ["pipeline"]),
        ("uvloop", "broker", ["broker", "--listen", "127.0.0.1:0"]),
        ("prometheus_client", "web", ["web"]),
    ],
)
def test_missing_extra_is_named_with_the_install_command(
    tmp_path: Path, missing: str, extra: str, arguments: list[str]
) -> None:
    script = f"import sys; sys.modules[{missing!r}] = None; import holdfast.cli as c; " + (
        f"sys.exit(c.main({arguments!r}))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False, timeout=60,
        cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 1
    assert f"The {extra} needs `pip install 'holdfast[{extra}]'`" in done.stderr
    assert "Traceback" not in done.stderr
