"""A store that is away, and a group that never comes to rest: the short version of the trials."""

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor

import pytest
from tests.brokers import ApacheKafka, EmbeddedBroker
from tests.chaos.client import POLL_INTERVAL_MS, begin_trials
from tests.conftest import KINDS

SECONDS = POLL_INTERVAL_MS / 1000 + 5

Trials = dict[tuple[str, str], "Future[None]"]


@pytest.fixture(scope="module")
def trials(apache_kafka: ApacheKafka, embedded_broker: EmbeddedBroker) -> Iterator[Trials]:
    with ThreadPoolExecutor(4) as pool:
        yield begin_trials(pool, (apache_kafka, embedded_broker), SECONDS)


@pytest.mark.parametrize("kind", list(KINDS))
def test_outage_of_the_store_loses_and_dead_letters_nothing(trials: Trials, kind: str) -> None:
    trials["outage", kind].result()


@pytest.mark.parametrize("kind", list(KINDS))
def test_members_coming_and_going_lose_nothing_and_commit_nothing_undone(
    trials: Trials, kind: str
) -> None:
    trials["storm", kind].result()
