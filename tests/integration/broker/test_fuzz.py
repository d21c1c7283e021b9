"""A short fuzz of the whole broker; `make fuzz` goes on for longer and with other seeds."""

from pathlib import Path

from tests.brokers import EmbeddedBroker
from tests.fuzz.access import AccessAttack, SecuredTarget
from tests.fuzz.attack import Attack

SEED = 20_260


def test_garbage_and_random_requests_neither_stop_the_broker_nor_write(tmp_path: Path) -> None:
    with EmbeddedBroker(tmp_path) as broker:
        attack = Attack(broker, SEED)
        attack.garbage(5)
        attack.requests(8)
        attack.bombs(rounds=10)
        attack.finish()


def test_requests_before_and_after_a_login_do_not_break_a_secured_broker(tmp_path: Path) -> None:
    with SecuredTarget(tmp_path) as broker:
        AccessAttack(broker, SEED).run(8)
