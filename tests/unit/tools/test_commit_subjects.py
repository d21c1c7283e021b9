"""The hook that checks the subject line of a commit."""

import subprocess
from pathlib import Path

import pytest

HOOK = Path(__file__).parents[3] / "tools" / "git_hooks" / "commit-msg"


def run_hook(folder: Path, message: str) -> "subprocess.CompletedProcess[str]":
    file = folder / "COMMIT_EDITMSG"
    file.write_text(message)
    return subprocess.run([HOOK, file], capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    "message",
    [
        "gate: hold events of keys found in a foreign partition\n",
        "cli, api: name the flow in every error\n\nUsers could not tell which flow it was.\n",
        "# a comment of git's\nbroker: check record framing at Produce\n# another\n",
        'Revert "gate: hold events of foreign keys"\n',
        "client: " + "x" * 64 + "\n",
    ],
)
def test_commit_with_a_component_first_is_accepted(tmp_path: Path, message: str) -> None:
    done = run_hook(tmp_path, message)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("message", "reason"),
    [
        ("Wait for the outcome itself\n", "component: what changes"),
        ("Gate: hold events\n", "component: what changes"),
        ("gate: hold events.\n", "full stop"),
        ("gate:\n", "component: what changes"),
        ("", "component: what changes"),
        ("client: " + "x" * 65 + "\n", "73 characters"),
        ("gate: hold events\nof foreign keys\n", "must be empty"),
    ],
)
def test_commit_without_a_proper_subject_is_refused_with_the_reason(
    tmp_path: Path, message: str, reason: str
) -> None:
    done = run_hook(tmp_path, message)
    assert done.returncode == 1
    assert reason in done.stderr
