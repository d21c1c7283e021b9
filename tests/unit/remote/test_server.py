"""Addresses of servers, contexts, and what a command says where it cannot speak REST."""

from pathlib import Path

import pytest

from holdfast.cli import main
from holdfast.errors import ConfigError, NotFoundError
from holdfast.remote.contexts import Context, Contexts, chosen_server, contexts_file
from holdfast.remote.server import Server


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    for name in ("HOLDFAST_SERVER", "HOLDFAST_TOKEN"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize("url", ["prod", "ftp://prod", "https://"])
def test_invalid_address_is_refused(url: str) -> None:
    with pytest.raises(ConfigError, match="is not the address"):
        Server(url)


def test_token_is_not_sent_without_encryption_beyond_this_machine() -> None:
    with pytest.raises(ConfigError, match="Use https"):
        Server("http://prod.example.com", "secret")
    Server("http://127.0.0.1:8080", "secret")
    Server("http://localhost:8080", "secret")


def test_line_break_at_the_end_of_a_token_is_ignored(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOLDFAST_TOKEN", "secret\n")
    assert chosen_server("https://prod", None) == Server("https://prod", "secret")


@pytest.mark.parametrize("token", ["secret\nX-Other: 1", "secret two", "secret\u20ac"])
def test_token_that_no_header_can_have_is_refused_and_not_shown(
    token: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HOLDFAST_TOKEN", token)
    assert main(["health", "--server", "http://127.0.0.1:1", "-o", "json"]) == 2
    said = capsys.readouterr().err
    assert "The token has blanks" in said
    assert "secret" not in said


def test_context_keeps_the_path_of_a_token_and_never_the_token(tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text("secret\n")
    assert (
        main(["context", "add", "prod", "https://prod.example.com", "--token-file", str(file)]) == 0
    )
    assert "secret" not in contexts_file().read_text()
    server = chosen_server(None, None)
    assert server == Server("https://prod.example.com", "secret")


def test_flag_goes_before_environment_and_environment_before_context(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    Contexts((Context(name="prod", url="https://prod"),), "prod").save()
    monkeypatch.setenv("HOLDFAST_SERVER", "https://environment")
    urls = [
        server and server.url
        for server in (chosen_server("https://flag", None), chosen_server(None, None))
    ]
    assert urls == ["https://flag", "https://environment"]
    monkeypatch.delenv("HOLDFAST_SERVER")
    found = chosen_server(None, None)
    assert found is not None
    assert found.url == "https://prod"


def test_no_context_is_in_use_after_use_none() -> None:
    Contexts((Context(name="prod", url="https://prod"),), "prod").save()
    assert main(["context", "use", "--none"]) == 0
    assert chosen_server(None, None) is None
    with pytest.raises(NotFoundError, match="There are: prod"):
        chosen_server(None, "other")


def test_command_without_a_form_in_the_api_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    Contexts((Context(name="prod", url="https://prod"),), "prod").save()
    assert main(["topic", "ls"]) == 2
    assert "speaks with the broker, and https://prod is chosen" in capsys.readouterr().err


def test_server_that_does_not_answer_is_unreachable(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--server", "http://127.0.0.1:9", "held", "orders"]) == 4
    assert "does not answer" in capsys.readouterr().err
