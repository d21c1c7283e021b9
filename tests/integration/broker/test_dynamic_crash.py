"""kill -9 while quotas and settings of groups change: what was acknowledged is there, and nothing
is half done."""

import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.access_table import BY_NAME, Caller
from tests.brokers import EmbeddedBroker
from tests.clients import wait_until
from tests.frames import codec

from holdfast.broker.dynamic_file import DynamicFile

AT_ONCE = 3
"""Changes of one request: all of them are made, or none."""
ENOUGH = 20


def add_quotas(caller: Caller, number: int) -> None:
    module = codec(BY_NAME["alter_client_quotas"], "request")
    request = module.AlterClientQuotasRequest(
        [
            module.EntryData(
                [module.EntityData("user", f"{number}-{each}")],
                [module.OpData("producer_byte_rate", 1e6)],
            )
            for each in range(AT_ONCE)
        ]
    )
    reply = caller.ask("alter_client_quotas", 1, request)
    assert {entry.error_code for entry in reply.entries} == {0}


def add_group_settings(caller: Caller, number: int) -> None:
    module = codec(BY_NAME["incremental_alter_configs"], "request")
    change = module.AlterableConfig("consumer.session.timeout.ms", 0, "50000")
    request = module.IncrementalAlterConfigsRequest(
        [module.AlterConfigsResource(32, f"{number}-{each}", [change]) for each in range(AT_ONCE)]
    )
    reply = caller.ask("incremental_alter_configs", 1, request)
    assert {result.error_code for result in reply.responses} == {0}


def quotas(data_dir: Path) -> set[str]:
    return {str(entity.user) for entity in DynamicFile(data_dir).entries.quotas}


def groups(data_dir: Path) -> set[str]:
    return set(DynamicFile(data_dir).entries.groups)


@pytest.mark.parametrize(
    ("change", "stored"),
    [(add_quotas, quotas), (add_group_settings, groups)],
    ids=["quotas", "groups"],
)
def test_acknowledged_changes_survive_a_kill_and_none_is_half_done(
    tmp_path: Path, change: Callable[[Caller, int], None], stored: Callable[[Path], set[str]]
) -> None:
    with EmbeddedBroker(tmp_path) as broker:
        acknowledged: list[int] = []

        def work() -> None:
            caller = Caller(broker.port)
            try:
                for number in range(10_000):
                    change(caller, number)
                    acknowledged.append(number)
            except (OSError, EOFError):
                pass  # the broker is gone
            finally:
                caller.close()

        worker = threading.Thread(target=work)
        worker.start()
        wait_until(lambda: len(acknowledged) >= ENOUGH or None, "some changes")
        broker.kill()
        worker.join()
        names = stored(broker.data_dir)
        expected = {f"{number}-{each}" for number in acknowledged for each in range(AT_ONCE)}
        last = {f"{len(acknowledged)}-{each}" for each in range(AT_ONCE)}
        assert names in (expected, expected | last)
        broker.start()
        caller = Caller(broker.port)
        change(caller, 99_999)
        caller.close()
        assert stored(broker.data_dir) == names | {f"99999-{each}" for each in range(AT_ONCE)}
