"""The division of the long tier: every test is in exactly one part, and the parts take about the same time."""

import os
import subprocess
import sys
from collections import Counter

import pytest

from tests import longtier
from tests.longtier import PARTS, Cost, divide, part_of

KNOWN = longtier.costs()
LISTED = [
    test
    for name, cost in KNOWN.items()
    for test in ([name] if longtier.function_of(name) != name else [f"{name}[{i}]" for i in range(cost.tests)])
    if longtier.function_of(name) != name or cost.seconds * cost.tests > longtier.QUICK  # others have no long test
]


def test_every_test_is_in_exactly_one_part():
    assert len(LISTED) > 3000
    counts = Counter(test for _, tests in divide(LISTED, PARTS) for test in tests)
    assert counts == dict.fromkeys(LISTED, 1)
    new = [f"tests/test_new.py::test_new[{i}]" for i in range(50)]  # without a recorded cost
    counts = Counter(test for _, tests in divide(LISTED + new, PARTS) for test in tests)
    assert counts == dict.fromkeys(LISTED + new, 1)


def test_the_order_of_collection_does_not_matter():
    """Each process of pytest-xdist collects for itself."""
    assert divide(LISTED[::-1], PARTS) == divide(LISTED, PARTS)


def test_parts_are_balanced_and_fit_their_limit():
    seconds = [seconds for seconds, _ in divide(LISTED, PARTS)]
    assert max(seconds) <= 1.1 * min(seconds)
    # Two processors, and a third of the time for what costs do not show: collection, compilation in each process.
    assert max(seconds) / 2 <= longtier.MINUTES * 60 * 2 / 3


def test_commits_one_after_the_other_run_all_parts():
    assert {part_of(count) for count in range(771, 771 + PARTS)} == set(range(1, PARTS + 1))


def test_each_round_has_another_share(monkeypatch):
    shares = []
    for number in range(7, 10):
        monkeypatch.setattr(longtier, "this_round", lambda number=number: number)
        shares.append(longtier.turn("abcdefgh", 3))
    assert sorted(one for share in shares for one in share) == list("abcdefgh")
    assert shares[0] == ["b", "e", "h"]


def test_the_round_is_that_of_the_commits_or_of_the_variable(monkeypatch):
    monkeypatch.setattr(longtier, "commits", lambda: 5 * PARTS + 3)
    monkeypatch.delenv(longtier.ROUND, raising=False)
    assert longtier.this_round.__wrapped__() == 5
    monkeypatch.setenv(longtier.ROUND, "7")
    assert longtier.this_round.__wrapped__() == 7


def test_cheap_tests_of_a_function_stay_together():
    parts = divide([f"a.py::test_a[{i}]" for i in range(20)], 2, {"a.py::test_a": Cost(1.0, 20)})
    assert sorted(len(tests) for _, tests in parts) == [0, 20]


def test_dear_tests_of_a_part_begin_first():
    known = {"a.py::test_a": Cost(1.0, 2), "b.py::test_b": Cost(50.0, 1), "b.py::test_c[x]": Cost(200.0, 1)}
    tests = ["a.py::test_a[1]", "b.py::test_b", "a.py::test_a[0]", "b.py::test_c[x]", "b.py::test_new"]
    in_order = sorted(tests, key=lambda test: longtier.begin_of(test, known))
    assert in_order == ["b.py::test_c[x]", "b.py::test_b", "a.py::test_a[1]", "a.py::test_a[0]", "b.py::test_new"]


@pytest.mark.parametrize("text", ["0/8", "9/8", "3", "x/8", "3/8/1"])
def test_a_part_that_does_not_exist_is_refused(text):
    with pytest.raises(ValueError, match="a part such as 3/8 is expected"):
        longtier.chosen(text)


def collected(part, path):
    """Node ids of the long tests that pytest selects in a file."""
    environment = {**os.environ, longtier.VARIABLE: part}
    command = [sys.executable, "-m", "pytest", "-p", "no:mfmasim", "-q", "-m", "long", "--collect-only", path]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    return [line for line in done.stdout.splitlines() if "::" in line], done.stdout + done.stderr


def test_pytest_runs_the_part_that_the_variable_names():
    path = "tests/grids/test_grid_maps.py"
    parts = [collected(f"{number}/2", path) for number in (1, 2)]
    ids = [test for tests, _ in parts for test in tests]
    assert len(ids) == len(set(ids)) >= 8
    assert f"long tier: part 1/2, {len(parts[0][0])} of {len(ids)} tests" in parts[0][1]
    assert "a part such as 3/8 is expected" in collected("3/2", path)[1]


def test_costs_come_from_what_pytest_appends(tmp_path):
    costs = tmp_path / "costs"
    costs.write_text(
        "2.00 long tests/a/test_b.py::test_c[1]\n4.00 long tests/a/test_b.py::test_c[x - y]\n"
        "10.00 quick tests/a/test_b.py::test_d[1]\n6.00 quick tests/a/test_b.py::test_d[2]\n"
        "0.10 quick tests/a/test_b.py::test_e\n"
    )
    test = "tests/test_longtier.py::test_commits_one_after_the_other_run_all_parts"
    command = [sys.executable, "-m", "pytest", "-p", "no:mfmasim", "-q", test]
    subprocess.run(command, env={**os.environ, longtier.RECORD: str(costs)}, capture_output=True, check=True)
    assert costs.read_text().splitlines()[-1].endswith(f" quick {test}")
    assert longtier.recorded([costs]) == {
        "tests/a/test_b.py::test_c": Cost(3.0, 2),
        "tests/a/test_b.py::test_d": Cost(8.0, 2),
    }


def test_a_test_that_takes_much_longer_than_the_others_has_a_cost_of_its_own(tmp_path):
    costs = tmp_path / "costs"
    rows = [f"1.00 long a.py::test_a[{i}]\n" for i in range(9)] + ["41.00 long a.py::test_a[x - y]\n"]
    costs.write_text("".join(rows))
    known = longtier.recorded([costs])
    assert known == {"a.py::test_a": Cost(1.0, 9), "a.py::test_a[x - y]": Cost(41.0, 1)}
    tests = [row.split(" ", 2)[2].strip() for row in rows]
    assert divide(tests, 2, known) == [(41.0, tests[-1:]), (9.0, tests[:-1])]
    assert tests[-1] in longtier.beyond(tests, longtier.QUICK, known=known)


def test_a_function_of_dear_tests_alone_is_in_the_second_tier():
    tests = [f"a.py::test_a[{number}]" for number in range(8)] + ["a.py::test_b", "a.py::test_c", "a.py::test_new"]
    known = {"a.py::test_a": Cost(longtier.FIRST / 4, 8), "a.py::test_b": Cost(2 * longtier.ALONE, 1)}
    known["a.py::test_c"] = Cost((longtier.FIRST + longtier.ALONE) / 2, 1)
    later = longtier.beyond(tests, longtier.FIRST, longtier.ALONE, known)
    assert [test for test in tests if test not in later][4:] == ["a.py::test_c", "a.py::test_new"]
    assert len(later) == 5
    assert longtier.beyond(tests, longtier.QUICK, known=known) == set()


def test_dear_functions_have_a_share_in_the_quick_tier():
    tests = [f"a.py::test_a[{case}-{arch}]" for case in range(20) for arch in ("gfx950", "gfx1201")]
    tests += ["a.py::test_b[0]", "a.py::test_b[1]", "b.py::test_new[0]", "b.py::test_new[1]"]
    known = {"a.py::test_a": Cost(longtier.QUICK / 10, 40), "a.py::test_b": Cost(5 * longtier.QUICK, 2)}
    later = longtier.beyond(tests, longtier.QUICK, known=known)
    quick = [test for test in tests if test not in later]
    assert [longtier.function_of(test) for test in quick] == ["a.py::test_a"] * 10 + ["a.py::test_b"] + [
        "b.py::test_new"
    ] * 2
    assert {test[-8:].strip("-]") for test in quick[:10]} == {"gfx950", "gfx1201"}
    assert longtier.beyond(tests[::-1], longtier.QUICK, known=known) == later
    assert (
        longtier.beyond(["a.py::test_b[1]"], longtier.QUICK, known=known) == set()
    )  # asked for by its name, a test runs
