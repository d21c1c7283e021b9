"""Addresses and settings that cannot work fail at once, in words."""

import gc
import time
import weakref
from pathlib import Path

import pytest

import holdfast
from holdfast.client.connection import Connection, parse_addresses
from holdfast.client.settings import ClientSettings
from holdfast.errors import ConfigError, UnreachableError


@pytest.mark.parametrize(
    ("text", "addresses"),
    [
        ("localhost", ("localhost:9092",)),
        ("a:1,b:2", ("a:1", "b:2")),
        (" a:1 , [::1]:2 ", ("a:1", "[::1]:2")),
    ],
)
def test_addresses_are_read_as_people_write_them(text: str, addresses: tuple[str, ...]) -> None:
    assert parse_addresses(text) == addresses


@pytest.mark.parametrize(
    "text", ["", ",", "host:port", "host:0", "host:99999", "http://x:1", "a b:1"]
)
def test_invalid_address_is_refused(text: str) -> None:
    with pytest.raises(ConfigError, match="localhost:9092"):
        parse_addresses(text)


def test_closed_port_fails_within_seconds_and_names_the_address() -> None:
    begun = time.monotonic()
    with pytest.raises(UnreachableError, match=r"127.0.0.1:1\b.*Connection refused") as caught:
        holdfast.connect("127.0.0.1:1", connect_timeout=3)
    assert caught.value.transient
    assert time.monotonic() - begun < 30


def test_a_setting_that_librdkafka_does_not_know_is_named() -> None:
    with pytest.raises(ConfigError, match=r"security\.protokoll"):
        holdfast.connect("127.0.0.1:1", kafka={"security.protokoll": "ssl"})


def test_settings_come_from_the_environment_and_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "holdfast.toml").write_text(
        '[client]\nbootstrap = "127.0.0.1:2"\nconnect_timeout = 0.2\n'
    )
    with pytest.raises(UnreachableError, match=r"127\.0\.0\.1:2\b"):
        holdfast.connect()
    monkeypatch.setenv("HOLDFAST_CLIENT_BOOTSTRAP", "127.0.0.1:3")
    with pytest.raises(UnreachableError, match=r"127\.0\.0\.1:3\b"):
        holdfast.connect()


def test_an_unknown_setting_in_the_file_is_named(tmp_path: Path) -> None:
    file = tmp_path / "other.toml"
    file.write_text('[client]\nbotstrap = "x"\n')
    with pytest.raises(ConfigError, match="Did you mean 'bootstrap'"):
        holdfast.connect(config_file=file)


def test_unused_connection_is_freed_at_once_with_its_librdkafka_client() -> None:
    """Not only when the garbage collector comes round, in whatever thread that is."""
    connection = Connection(ClientSettings(bootstrap="127.0.0.1:1"))
    assert connection.admin is not None
    left = weakref.ref(connection)
    gc.disable()
    try:
        del connection
        assert left() is None
    finally:
        gc.enable()
