"""The examples in docstrings and guides are run, over both brokers."""

import asyncio
import doctest
import importlib
import re
from pathlib import Path

import pytest
from tests.brokers import BrokerProcess
from tests.conftest import unique_name

import holdfast

ROOT = Path(__file__).resolve().parents[3]
MODULES = sorted(
    str(path.relative_to(ROOT / "src").with_suffix("")).replace("/", ".")
    for package in ("client", "flows", "cli")
    for path in (ROOT / "src/holdfast" / package).glob("*.py")
    if ">>> " in path.read_text() and path.stem != "__main__"
)
GUIDE = ROOT / "docs/guides/sdk.md"


def names(client: holdfast.Client, kafka: BrokerProcess) -> dict[str, object]:
    """Names that an example may use. Topics are new for each example."""
    return {
        "holdfast": holdfast,
        "asyncio": asyncio,
        "client": client,
        "bootstrap": kafka.bootstrap,
        "topic": unique_name("example"),
        "flow_name": unique_name("example").lower(),
    }


@pytest.mark.parametrize("name", MODULES)
def test_docstring_examples_are_true(
    name: str, kafka: BrokerProcess, client: holdfast.Client
) -> None:
    module = importlib.import_module(name)
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    ran = 0
    for test in doctest.DocTestFinder(exclude_empty=True).find(module):
        if not test.examples:
            continue
        test.globs = {**vars(module), **names(client, kafka)}
        topic = test.globs["topic"]
        if "topics.create(topic" not in test.docstring:  # type: ignore[operator]
            client.topics.create(str(topic))
        results = runner.run(test)
        assert results.failed == 0, f"{test.name}: see the output"
        ran += results.attempted
    assert ran > 0


def test_python_examples_of_the_guide_work(
    kafka: BrokerProcess, client: holdfast.Client, tmp_path: Path
) -> None:
    """The Python blocks of the guide, one after the other, as a reader would type them."""
    blocks = re.findall(r"```python\n(.*?)```", GUIDE.read_text(), re.DOTALL)
    assert len(blocks) > 5
    stem = unique_name("guide").lower()
    text = "\n".join(blocks).replace("localhost:9092", kafka.bootstrap)
    for name in ("orders", "payments", "billing"):
        text = re.sub(rf'(["\'.])({name})\b', rf"\g<1>{stem}-\g<2>", text)
    scope: dict[str, object] = {}
    exec(compile(text, str(GUIDE), "exec"), scope)
