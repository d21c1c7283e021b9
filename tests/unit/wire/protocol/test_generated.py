"""The generated codecs: they are what the tool writes, and what is written is read back."""

import subprocess
import sys
from pathlib import Path

import pytest
from tests.unit.wire.protocol.samples import Sampler, codec
from tools.codec_generator.definitions import Message
from tools.generate_codecs import generate, messages

import holdfast.wire.protocol.generated as generated
from holdfast.wire.protocol.apis import APIS

MESSAGES = messages()
CASES = [(message, version) for message in MESSAGES for version in message.versions]
IDS = [f"{message.module}-{version}" for message, version in CASES]
CHECKED_IN = Path(generated.__file__).parent


def test_checked_in_code_is_what_the_tool_writes(tmp_path: Path) -> None:
    (tmp_path / "removed_request.py").write_text("a module that no definition has any more\n")
    generate(tmp_path)
    written = {path.name: path.read_bytes() for path in tmp_path.glob("*.py")}
    checked_in = {path.name: path.read_bytes() for path in CHECKED_IN.glob("*.py")}
    assert written == checked_in


def test_every_api_has_a_request_and_a_response_in_every_version_served() -> None:
    versions = {message.module: message.versions for message in MESSAGES}
    for api in APIS.values():
        served = range(api.min_version, api.max_version + 1)
        assert versions[f"{api.name}_request"] == served
        assert versions[f"{api.name}_response"] == served


@pytest.mark.parametrize(("message", "version"), CASES, ids=IDS)
def test_every_message_survives_encoding_and_decoding(message: Message, version: int) -> None:
    module = codec(message)
    for seed in range(8):
        sample = Sampler(message, version, seed).message()
        raw = b"".join(module.encode(version, sample))
        assert module.decode(version, raw) == sample, f"seed {seed}"
        assert module.decode(version, b"before" + raw, 6) == sample, f"seed {seed}"


@pytest.mark.parametrize("message", MESSAGES, ids=lambda message: message.module)
def test_defaults_can_be_encoded_in_every_version(message: Message) -> None:
    module = codec(message)
    default = getattr(module, message.name)()
    for version in message.versions:
        raw = b"".join(module.encode(version, default))
        assert b"".join(module.encode(version, module.decode(version, raw))) == raw


def test_a_codec_is_imported_without_the_others() -> None:
    """Handlers are imported when first asked for: that must not bring in every other message."""
    name = f"{generated.__name__}.produce_request"
    program = f"import sys, {name}; print(*sys.modules)"
    result = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    loaded = result.stdout.split()
    assert [module for module in loaded if module.startswith(f"{generated.__name__}.")] == [name]
