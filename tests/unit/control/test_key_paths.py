"""Any key stands in an address, and comes back as it was."""

import random
from urllib.parse import quote, unquote

import pytest

from holdfast.control.key_paths import key_from_path, key_to_path
from holdfast.errors import InvalidArgumentError


def test_every_key_survives_an_address() -> None:
    seed = random.randrange(10**9)
    chance = random.Random(seed)
    keys = [bytes([n]) for n in range(256)] + [
        chance.randbytes(chance.randrange(5_000)) for _ in range(300)
    ]
    for key in keys:
        path = key_to_path(key)
        assert key_from_path(path) == key, f"seed {seed}"
        assert quote(path, safe="") == path, f"seed {seed}: proxies leave it as it is"


@pytest.mark.parametrize("key", [b".", b"..", b"", b"b64.", b"b64.YQ", b"a/b", "ü".encode()])
def test_keys_that_urls_would_alter_are_base64(key: bytes) -> None:
    assert key_to_path(key).startswith("b64.")
    assert key_from_path(key_to_path(key)) == key


def test_plain_text_is_read_as_it_is() -> None:
    assert key_from_path("customer-7") == b"customer-7"
    assert key_from_path(unquote("%C3%BC")) == "ü".encode()


@pytest.mark.parametrize("path", ["b64.!", "b64.YQ=", "b64.A", "b64.YQ YQ", unquote("%ff")])
def test_request_without_a_key_is_refused(path: str) -> None:
    with pytest.raises(InvalidArgumentError, match="is not a key"):
        key_from_path(path)
