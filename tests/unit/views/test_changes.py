"""The ring: numbered, bounded, followed from threads, and honest about what was missed."""

import asyncio
from threading import Thread

from holdfast.views.changes import ChangeKind, Changes


def add(changes: Changes, count: int = 1) -> None:
    for number in range(count):
        changes.append(ChangeKind.KEY, "f", number)


def test_numbers_count_up_by_one_and_since_gives_newer_changes() -> None:
    changes = Changes()
    add(changes, 3)
    assert [change.number for change in changes.since(0).changes] == [1, 2, 3]
    assert [change.number for change in changes.since(2).changes] == [3]
    assert changes.since(3).changes == ()


def test_reader_that_is_too_far_behind_gets_a_reset() -> None:
    changes = Changes(capacity=5)
    add(changes, 6)
    assert changes.since(0).reset
    assert [change.number for change in changes.since(1).changes] == [2, 3, 4, 5, 6]


def test_event_id_of_another_process_is_always_too_old() -> None:
    mine, other = Changes(), Changes()
    add(mine, 3)
    assert mine.number_of(mine.event_id(2)) == 2
    for place in (other.event_id(2), "", "x-1", f"{mine.epoch}-", f"{mine.epoch}-9x", "-1"):
        assert mine.since(mine.number_of(place)).reset


async def test_waiting_reader_is_woken_by_another_thread_and_misses_nothing() -> None:
    changes = Changes()
    got: list[int] = []
    with changes.subscribe() as reader:
        thread = Thread(target=add, args=(changes, 5_000))
        thread.start()
        while len(got) < 5_000:
            batch = await reader.next(within=20)
            assert batch.changes, "no change came in time"
            got += [change.number for change in batch.changes]
        thread.join()
    assert got == list(range(1, 5_001))


async def test_reader_that_falls_behind_is_reset_and_delays_no_other() -> None:
    changes = Changes(capacity=10)
    with changes.subscribe() as slow:
        add(changes, 100)
        assert (await slow.next(within=1)).reset
        add(changes)
        assert [change.number for change in (await slow.next(within=1)).changes] == [101]


async def test_nothing_new_is_an_empty_batch_and_no_error() -> None:
    with Changes().subscribe() as reader:
        assert (await reader.next(within=0.01)).changes == ()


def test_reader_whose_loop_has_ended_does_not_stop_the_writer() -> None:
    changes = Changes()

    async def enter() -> None:
        changes.subscribe().__enter__()

    asyncio.run(enter())
    add(changes, 2)
    assert changes.last == 2
