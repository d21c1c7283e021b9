"""Seals: each names a verified stretch, and depends on all seals before it."""

from dataclasses import replace

from holdfast.pipeline.audit.seals import Contents, Seal, contents, contradictions, decode


def chain(count: int) -> list[Seal]:
    seals: list[Seal] = []
    for number in range(1, count + 1):
        seals.append(
            Seal(
                number=number,
                at=1_000 * number,
                topic_id="topic",
                starts={0: 10 * (number - 1), 1: 0},
                ends={0: 10 * number, 1: 0},
                journal_ends={0: number, 1: 0},
                events=Contents(10, 7 * number),
                journal=Contents(1, number),
                totals={"events": 10 * number},
                previous=seals[-1].digest if seals else "",
            )
        )
    return seals


def stored(seals: list[Seal]) -> list[tuple[Seal, str]]:
    return [decode(seal.encode()) for seal in seals]


def broken(seals: list[tuple[Seal, str]]) -> list[int]:
    return [number for number, _ in contradictions(seals)]


def test_stored_seals_are_those_that_were_made() -> None:
    seals = chain(3)
    assert [seal for seal, _ in stored(seals)] == seals
    assert broken(stored(seals)) == []
    assert broken([]) == []


def test_changed_seal_is_found() -> None:
    seals = stored(chain(3))
    seals[1] = replace(seals[1][0], events=Contents(9, 14)), seals[1][1]
    assert broken(seals) == [2]


def test_changed_seal_with_a_new_digest_breaks_the_next_one() -> None:
    seals = stored(chain(3))
    forged = replace(seals[1][0], events=Contents(9, 14))
    seals[1] = forged, forged.digest
    assert broken(seals) == [3]


def test_missing_seal_is_found() -> None:
    seals = stored(chain(4))
    assert broken([*seals[:1], *seals[2:]]) == [3]
    assert broken(seals[1:]) == [2], "the first one, too"


def test_seal_that_leaves_events_out_is_found() -> None:
    seals = chain(2)
    gap = replace(seals[1], starts={0: 11, 1: 0})
    assert broken(stored([seals[0], gap])) == [2]
    again = replace(gap, topic_id="another")
    assert broken(stored([seals[0], again])) == [], "a recreated topic has offsets of its own"


def test_contents_of_all_seals_do_not_depend_on_where_they_end() -> None:
    first, second, third = chain(3)
    merged = replace(first, events=first.events.plus(second.events))
    assert contents([first, second, third])[0] == contents([merged, third])[0]
    assert contents([]) == (Contents(0, 0), Contents(0, 0))
