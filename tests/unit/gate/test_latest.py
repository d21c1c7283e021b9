"""The last changes, for copies that follow."""

import pickle

from holdfast.gate import Latest


def changed(*steps: tuple[int, int], most: int) -> Latest[str]:
    latest: Latest[str] = Latest(3)
    for to, size in steps:
        latest.add(f"to {to}", to=to, size=size, most=most)
    return latest


def test_what_leads_from_a_number_to_the_end_is_told() -> None:
    latest = changed((4, 1), (7, 1), (8, 1), most=10)
    assert [each.change for each in latest.since(3) or ()] == ["to 4", "to 7", "to 8"]
    assert [each.change for each in latest.since(7) or ()] == ["to 8"]
    assert latest.since(8) == []


def test_what_was_forgotten_is_not_told_in_part() -> None:
    latest = changed((4, 5), (5, 5), (6, 5), most=10)
    assert latest.since(3) is None
    assert [each.change for each in latest.since(4) or ()] == ["to 5", "to 6"]


def test_a_number_within_a_change_is_not_known() -> None:
    assert changed((4, 1), (7, 1), most=10).since(5) is None


def test_a_change_that_is_larger_than_all_may_be_leaves_nothing() -> None:
    latest = changed((4, 1), (5, 11), most=10)
    assert latest.since(4) is None
    assert latest.since(5) == []


def test_a_copy_begins_without_a_past() -> None:
    copy = pickle.loads(pickle.dumps(changed((4, 1), most=10)))
    assert copy.end == 4
    assert copy.since(3) is None
    assert copy.since(4) == []
