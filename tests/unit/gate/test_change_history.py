"""`ChangeHistory`: the last changes, for copies that follow."""

import pickle

from holdfast.gate import ChangeHistory


def history_of(*steps: tuple[int, int], most: int) -> ChangeHistory[str]:
    history: ChangeHistory[str] = ChangeHistory(3)
    for to, size in steps:
        history.add(f"to {to}", to=to, size=size, most=most)
    return history


def test_since_returns_all_changes_from_a_version_to_the_end() -> None:
    history = history_of((4, 1), (7, 1), (8, 1), most=10)
    assert [each.change for each in history.since(3) or ()] == ["to 4", "to 7", "to 8"]
    assert [each.change for each in history.since(7) or ()] == ["to 8"]
    assert history.since(8) == []


def test_since_returns_none_if_some_changes_were_dropped() -> None:
    history = history_of((4, 5), (5, 5), (6, 5), most=10)
    assert history.since(3) is None
    assert [each.change for each in history.since(4) or ()] == ["to 5", "to 6"]


def test_since_returns_none_for_a_version_inside_a_change() -> None:
    assert history_of((4, 1), (7, 1), most=10).since(5) is None


def test_a_change_above_the_size_limit_empties_the_history() -> None:
    history = history_of((4, 1), (5, 11), most=10)
    assert history.since(4) is None
    assert history.since(5) == []


def test_a_pickled_copy_starts_with_an_empty_history() -> None:
    copy = pickle.loads(pickle.dumps(history_of((4, 1), most=10)))
    assert copy.end == 4
    assert copy.since(3) is None
    assert copy.since(4) == []
