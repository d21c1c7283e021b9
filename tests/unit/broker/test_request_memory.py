"""The memory of requests that arrive, shared between hosts."""

from holdfast.broker.request_memory import RequestMemory


class Client:
    def __init__(self, host: str) -> None:
        self.host = host
        self.woken = 0

    def memory_granted(self) -> None:
        self.woken += 1


def test_one_host_cannot_take_the_share_of_the_others() -> None:
    memory = RequestMemory(100)
    greedy = [Client("10.0.0.1") for _ in range(5)]
    assert [memory.take(20, client) for client in greedy] == [True, True, False, False, False]
    other = Client("10.0.0.2")
    assert memory.take(40, other)
    memory.give_back(20, greedy[0])
    assert [client.woken for client in greedy] == [0, 0, 1, 1, 1]


def test_request_larger_than_the_share_of_its_host_is_taken_alone() -> None:
    memory = RequestMemory(100)
    large = Client("10.0.0.1")
    assert memory.take(90, large)
    assert not memory.take(20, Client("10.0.0.2"))
    memory.give_back(90, large)
    assert memory.taken == 0


def test_one_request_of_a_host_goes_past_the_limit_to_come_to_an_end() -> None:
    memory = RequestMemory(100)
    first, second, third = Client("a"), Client("a"), Client("b")
    assert memory.take(25, first)
    assert memory.take(25, second)
    assert memory.take(50, third)
    assert memory.take(25, first, has=25)
    assert memory.take(50, first, has=50)
    assert not memory.take(25, second, has=25)
    assert memory.take(50, third, has=50)
    memory.give_back(100, first)
    assert second.woken == 1
    assert memory.take(25, second, has=25)
