"""Comparison of a benchmark with that of an earlier commit."""

from pathlib import Path

from bench.against import ratios, run


def test_ratio_is_median_now_over_median_before() -> None:
    before = [{"rate": 100.0, "zero": 0.0, "old": 1.0}, {"rate": 900.0, "zero": 0.0, "old": 1.0},
              {"rate": 200.0, "zero": 0.0, "old": 1.0}]  # fmt: skip
    now = [{"rate": 300.0, "zero": 1.0, "new": 1.0}] * 3
    assert ratios(before, now) == {"rate": 1.5}


def test_figures_are_the_numbers_of_the_last_line_of_that_trees_benchmark(tmp_path: Path) -> None:
    (tmp_path / "bench").mkdir()
    (tmp_path / "bench/__init__.py").touch()
    (tmp_path / "bench/some.py").write_text(
        "import json, sys\n"
        "print('progress')\n"
        "print(json.dumps({'rate': 7, 'note': 'x', 'ok': True, 'given': int(sys.argv[1])}))\n"
    )
    assert run(tmp_path, "some", ["3"]) == {"rate": 7, "given": 3}
