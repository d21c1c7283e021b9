"""First come, first served."""

from threading import Event, Thread

from tests.clients import wait_until

from holdfast.pipeline.lock import FairLock


def test_the_lock_is_given_in_the_order_of_asking() -> None:
    lock = FairLock()
    order: list[int] = []
    threads = []
    with lock.turn() as waited:
        assert not waited
        for number in range(10):

            def ask(number: int = number) -> None:
                with lock.turn() as waited:
                    assert waited
                    order.append(number)

            thread = Thread(target=ask)
            thread.start()
            threads.append(thread)
            wait_until(lambda n=number: len(lock._queue) == n + 1, "its place in the queue")
        assert lock.wanted
    for thread in threads:
        thread.join()
    assert order == list(range(10))
    assert not lock.wanted


def test_who_gives_the_lock_back_and_asks_again_comes_after_those_who_waited() -> None:
    lock = FairLock()
    order: list[str] = []
    asked = Event()

    def other() -> None:
        asked.set()
        with lock.turn():
            order.append("other")

    with lock.turn():
        thread = Thread(target=other)
        thread.start()
        wait_until(lambda: lock.wanted, "the other's asking")
    with lock.turn():
        order.append("again")
    thread.join()
    assert order == ["other", "again"]


def test_an_error_gives_the_lock_back() -> None:
    lock = FairLock()
    try:
        with lock.turn():
            raise ValueError
    except ValueError:
        pass
    with lock.turn() as waited:
        assert not waited
