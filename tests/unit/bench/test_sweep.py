"""A sweep keeps what it has found, whatever ends it, and goes on from there."""

import json
from pathlib import Path

import pytest
from bench.results.kept import Figures, Kept, Point
from bench.sweeps.axes import along, each
from bench.sweeps.sweep import sweep

POINTS = [Point(name, {}, {}) for name in ("first", "second", "third")]
ABOUT = {"part": "gate", "quick": False, "rounds": 1}


def rates(point: Point, system: str) -> Figures:
    return {"rate": float(len(point.name) + len(system))}


def names(file: Path) -> list[str]:
    return [point["name"] for point in json.loads(file.read_text())["points"]]


def test_interrupted_sweep_keeps_its_points_and_resumes_with_the_rest(tmp_path: Path) -> None:
    file = tmp_path / "growth.json"
    measured: list[str] = []

    def until_the_third(point: Point, system: str) -> Figures:
        if point.name == "third":
            raise KeyboardInterrupt
        return rates(point, system)

    def counted(point: Point, system: str) -> Figures:
        measured.append(point.name)
        return rates(point, system)

    with pytest.raises(KeyboardInterrupt):
        sweep(Kept(file, ABOUT), POINTS, ["a", "b"], until_the_third, rounds=1)
    assert names(file) == ["first", "second"]

    kept = Kept(file, ABOUT)
    kept.resume()
    sweep(kept, POINTS, ["a", "b"], counted, rounds=1)
    assert measured == ["third", "third"]
    assert names(file) == ["first", "second", "third"]


def test_results_of_another_kind_are_not_resumed(tmp_path: Path) -> None:
    file = tmp_path / "growth.json"
    sweep(Kept(file, ABOUT | {"quick": True}), POINTS, ["a"], rates, rounds=1)
    with pytest.raises(SystemExit, match="measured otherwise"):
        Kept(file, ABOUT).resume()


def test_systems_take_turns_and_all_rounds_are_kept(tmp_path: Path) -> None:
    file = tmp_path / "growth.json"
    order: list[str] = []

    def counted(point: Point, system: str) -> Figures:
        order.append(system)
        return {"rate": float(len(order))}

    sweep(Kept(file, ABOUT), POINTS[:1], ["a", "b"], counted, rounds=2)
    assert order == ["a", "b", "b", "a"]
    [point] = json.loads(file.read_text())["points"]
    assert point["found"] == {"a": {"rate": [1.0, 4.0]}, "b": {"rate": [2.0, 3.0]}}


def test_failed_system_does_not_affect_results_of_others(tmp_path: Path) -> None:
    file = tmp_path / "growth.json"

    def fails(point: Point, system: str) -> Figures:
        if (point.name, system) == ("second", "b"):
            raise TimeoutError("5 of 9 records\nand a long log")
        return rates(point, system)

    sweep(Kept(file, ABOUT), POINTS, ["a", "b"], fails, rounds=3)
    first, second, third = json.loads(file.read_text())["points"]
    assert second["failed"] == {"b": "TimeoutError: 5 of 9 records"}
    assert second["found"].keys() == {"a"}
    assert first["found"].keys() == third["found"].keys() == {"a", "b"}


def test_base_is_measured_once_and_lies_on_every_axis() -> None:
    points = along(
        {"partitions": 6, "size": 100},
        {"partitions": each("partitions", 1, 6), "size": each("size", 100, 1_000)},
    )
    assert [point.settings for point in points] == [
        {"partitions": 1, "size": 100},
        {"partitions": 6, "size": 100},
        {"partitions": 6, "size": 1_000},
    ]
    assert points[1].on == {"partitions": 6, "size": 100}
    assert len({point.name for point in points}) == 3
