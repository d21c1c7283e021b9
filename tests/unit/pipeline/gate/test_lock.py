"""First come, first served."""

from threading import Event, Thread

from tests.clients import wait_until

from holdfast.pipeline.gate.lock import FairLock


def test_the_lock_is_granted_in_request_order() -> None:
    lock = FairLock()
    order: list[int] = []
    threads = []
    with lock.turn():
        for number in range(10):

            def ask(number: int = number) -> None:
                with lock.turn():
                    order.append(number)

            thread = Thread(target=ask)
            thread.start()
            threads.append(thread)

            def waits(number: int = number) -> bool:
                return len(lock._queue) == number + 1

            wait_until(waits, "its place in the queue")
    for thread in threads:
        thread.join()
    assert order == list(range(10))


def test_a_thread_that_requests_the_lock_again_queues_behind_waiters() -> None:
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
        wait_until(lambda: lock._queue, "the other's asking")
    with lock.turn():
        order.append("again")
    thread.join()
    assert order == ["other", "again"]


def test_an_error_releases_the_lock() -> None:
    lock = FairLock()
    try:
        with lock.turn():
            raise ValueError
    except ValueError:
        pass
    thread = Thread(target=lambda: lock.turn().__enter__(), daemon=True)
    thread.start()
    thread.join(30)
    assert not thread.is_alive()
