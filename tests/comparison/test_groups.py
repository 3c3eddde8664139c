"""Groups of queries: the table, the test of whether groups differ, and differences that the overall mean hides."""

import json
import math

import numpy as np
import pytest
from support.made_runs import comparison, evaluation

import rankgain as rg
from rankgain.comparison.groups import PERMUTATIONS, blocks_of, permuted_p, welch
from rankgain.tools import reports

pytestmark = pytest.mark.usefixtures("backend")


def cells(groups):
    """Return the cells of the first table."""
    return [[*map(str, row)] for row in next(iter(blocks_of(groups)))[1].rows]


def kinds(first, second, seed=0, sd=0.05):
    """Return two runs that differ by `first` for 17 queries of one kind and by `second` for 33 queries of another."""
    random = np.random.default_rng(seed)
    base = random.random(50) * 0.4 + 0.3
    moved = base + np.where(np.arange(50) < 17, first, second) + random.normal(0, sd, 50)
    labels = ["keyword"] * 17 + ["question"] * 33
    return comparison({"bm25": base, "dense": moved}, [f"q{row}" for row in range(50)]), labels


def test_groups_print_a_table():
    runs, labels = kinds(-0.1, 0.08)
    groups = runs.groups(labels, "bm25")
    lines = groups.table().splitlines()
    assert lines[0] == "dense compared with bm25, ndcg, by group"
    assert [line.split()[0] for line in lines[2:8]] == ["group", "-------------", "keyword", "question", "mean", "all"]
    assert "one mean over all of them hides that dense is worse than bm25 for keyword." in groups.table()
    assert "Groups are tested one by one: p is not corrected for the number of groups." in groups.table()
    assert groups.differ_p("ndcg", "dense", "bm25") < 0.001
    assert repr(groups.overall["ndcg", "dense", "bm25"]) == repr(runs.test("bm25")["ndcg", "dense", "bm25"])
    assert groups.tests["keyword"]["ndcg", "dense", "bm25"].queries == 17


def test_group_differences_may_have_another_sign_than_the_overall_one():
    runs, labels = kinds(-0.1, 0.06)
    groups = runs.groups(labels)
    key = "ndcg", "dense", "bm25"
    assert groups.mean_of_means(*key) < 0 < groups.overall[key].difference
    assert any("The mean of the groups' means is" in line for line in groups.verdicts(*key))


def test_mean_of_means_has_the_p_and_interval_of_weighted_queries():
    runs, labels = kinds(-0.1, 0.06)
    groups, key = runs.groups(labels, flips=999), ("ndcg", "dense", "bm25")
    expected = runs.test(weights=[1 / labels.count(label) for label in labels], flips=999)[key]
    assert repr(groups.test_of_means(*key)) == repr(expected)
    assert expected.difference == pytest.approx(groups.mean_of_means(*key))
    (row,) = (line for line in groups.table().splitlines() if line.startswith("mean of means"))
    written = f"{expected.difference:+.4f} {expected.low:+.4f} to {expected.high:+.4f} {expected.p:.4f}"
    assert row.split()[3:] == written.split()
    content = json.loads(reports.tests_as_json(groups.overall, groups, None))["groups_differ"][0]
    written = [content[f"mean_of_means_{name}"] for name in ("p", "low", "high")]
    assert written == [expected.p, expected.low, expected.high]


def test_mean_of_means_of_uneven_groups_has_no_p():
    """One query has half of the weight, which is as much information as 3.7 queries of equal weight."""
    random = np.random.default_rng(0)
    runs = comparison({"a": random.random(14), "b": random.random(14)}, metric="cg")
    groups, key = runs.groups(["x"] + ["y"] * 13, flips=99), ("cg", "b", "a")
    pair = groups.test_of_means(*key)
    assert all(map(math.isnan, (pair.p, pair.adjusted)))
    assert (pair.low, pair.high) == (-math.inf, math.inf)
    assert "mean of means" in [row[0] for row in cells(groups) if row[3:] == ["-", "-"]]


def test_mean_of_means_names_an_unknown_pair(rejects):
    runs, labels = kinds(0.1, 0.1)
    groups = runs.groups(labels, flips=99)
    rejects(KeyError, "…was not tested: a key is (metric, run, baseline)…", groups.test_of_means, "ndcg", "x", "bm25")


def test_group_that_decides_the_overall_difference_is_named():
    runs, labels = kinds(0.2, 0.0)
    verdicts = runs.groups(labels).verdicts("ndcg", "dense", "bm25")
    only = "Only the group keyword has a decided difference if tested alone"
    assert f"{only}: it may account for the whole difference." in verdicts


@pytest.mark.parametrize(
    ("last", "expected"),
    [(50, ["Both groups point the same way."]), (44, ["All groups point the same way."]), (46, [])],
)
def test_groups_that_are_not_shown_to_differ_point_the_same_way(last, expected):
    """Only one of the differences is decided; if the last four queries form a group, its mean has the opposite sign."""
    runs, labels = kinds(0.04, 0.04, sd=0.1)
    labels[last:] = ["other"] * (50 - last)
    groups = runs.groups(labels)
    decided = [label for label, tests in groups.tests.items() if tests["ndcg", "dense", "bm25"].decided]
    assert len(decided) == 1
    assert groups.verdicts("ndcg", "dense", "bm25")[1:] == expected


def test_equal_groups_do_not_differ():
    runs, labels = kinds(0.1, 0.1)
    (line,) = runs.groups(labels).verdicts("ndcg", "dense", "bm25")
    assert line.startswith("It is not shown that the groups differ (p = 0.")


def test_groups_accept_every_form_of_labels():
    runs, labels = kinds(-0.1, 0.08)
    ids = [f"q{row}" for row in range(50)]
    expected = cells(runs.groups(labels))
    assert cells(runs.groups(dict(zip(ids, labels, strict=True)) | {"other": "x"})) == expected
    assert cells(runs.groups(np.array(labels)))[1:] == expected[1:]
    assert cells(runs.groups(tuple(labels))) == expected


def test_small_groups_have_no_p():
    runs = comparison({"a": [0.1] * 8, "b": [0.2, 0.3, 0.1, 0.4, 0.5, 0.6, 0.7, 0.9]})
    groups = runs.groups(list("xxxxxyyz"))
    rows = cells(groups)
    assert [row[3:] for row in rows[1:4]] == [["-", "-"]] * 3
    assert "Groups of fewer than 6 queries have no p." in groups.table()
    assert rows[3][:3] == ["z", "1", "+0.8000"]
    assert list(groups.tests) == ["x", "y"]


@pytest.mark.parametrize(("level", "fewest"), [(0.9, 5), (0.95, 6), (0.99, 8)])
def test_groups_have_a_p_from_the_number_of_queries_that_the_level_needs(level, fewest):
    labels = ["x"] * fewest + ["y"] * (fewest - 1)
    rising = np.linspace(0.1, 0.5, len(labels))
    groups = comparison({"a": 0 * rising, "b": rising}).groups(labels, level=level)
    assert [row[4] == "-" for row in cells(groups)[1:3]] == [False, True]
    assert groups.tests["x"]["ndcg", "b", "a"].decided
    assert f"Groups of fewer than {fewest} queries have no p." in groups.table()


def test_single_group_is_not_compared():
    groups = comparison({"a": [0.1] * 8, "b": [0.2] * 7 + [0.3]}).groups(["x"] * 7 + ["y"])
    assert math.isnan(groups.differ_p("ndcg", "b", "a"))
    assert "Whether the groups differ cannot be tested: only one group has two or more queries." in groups.table()


def test_queries_without_a_value_are_left_out_of_groups():
    runs = rg.Comparison({"a": evaluation([0.1, math.nan, 0.3, 0.4]), "b": evaluation([0.2, math.nan, 0.1, 0.4])})
    assert [row[:2] for row in cells(runs.groups(list("xxyy")))[1:3]] == [["x", "1"], ["y", "2"]]


def test_welch_test_equals_its_definition():
    random = np.random.default_rng(0)
    parts = [random.random(5), random.random(9), random.random(3)]
    w = [len(part) / part.var(ddof=1) for part in parts]
    mean = sum(weight * part.mean() for weight, part in zip(w, parts, strict=True)) / sum(w)
    above = sum(weight * (part.mean() - mean) ** 2 for weight, part in zip(w, parts, strict=True)) / 2
    below = 1 + 2 * 1 / 8 * sum(
        (1 - weight / sum(w)) ** 2 / (len(part) - 1) for weight, part in zip(w, parts, strict=True)
    )
    result = welch(np.concatenate(parts)[None], np.ones((1, 17)), np.array([5, 9, 3]), 0.0)
    assert result[0] == pytest.approx(above / below, rel=1e-12)


def test_p_of_groups_is_the_share_of_permuted_labels():
    """p is the share of label permutations that separate the groups at least as much as the observed labels do."""
    assert permuted_p(np.array([1.0, -1, 1, -1]), np.ones(4), np.array([0, 0, 1, 1]), 0) == 1.0
    p = permuted_p(np.arange(12.0), np.ones(12), np.repeat([0, 1], 6), 0)
    assert p == pytest.approx(2 / math.comb(12, 6), rel=0.5)
    assert p * (PERMUTATIONS + 1) == pytest.approx(round(p * (PERMUTATIONS + 1)), abs=1e-9)


def test_differences_within_rounding_are_equal():
    base = 0.1 * np.arange(20)
    groups = comparison({"a": base, "b": base + 0.2}, metric="cg").groups(list("x" * 10 + "y" * 10))
    assert len(set((base + 0.2 - base).tolist())) > 1
    assert groups.differ_p("cg", "b", "a") == 1.0


def test_a_metric_without_values_in_a_group_leaves_the_others_tested():
    random = np.random.default_rng(0)
    lacks = np.where(np.arange(20) < 9, math.nan, 0.5)
    runs = {name: {"cg": random.random(20) + shift, "rr": lacks} for name, shift in (("a", 0), ("b", 1))}
    groups = comparison(runs).groups(list("x" * 10 + "y" * 10))
    assert list(groups.tests["x"]) == [("cg", "b", "a")]
    assert groups.tests["x"].options.metrics == ("cg",)
    assert [row[0] for row in cells(groups) if "-" not in row[3:]] == ["group", "x", "y", "mean of means", "all"]
    assert groups.columns()["group"] == ["x", "y", "y"]


def test_notes_say_what_is_not_corrected():
    runs, labels = kinds(0.1, 0.1)
    (one,) = (note for note in runs.groups(labels).notes() if "one by one" in note)
    assert one == "Groups are tested one by one: p is not corrected for the number of groups."
    three = comparison({name: np.arange(12.0) * number for number, name in enumerate("abc")}, metric="cg")
    groups = three.groups(list("xy" * 6))
    assert groups.notes()[0].endswith("for the number of groups nor for the 3 differences in each group.")
    assert [note.split(":")[0] in groups._repr_html_() for note in groups.notes()] == [True, True, False]


def test_groups_decided_in_opposite_directions_are_named():
    runs, labels = kinds(-0.2, 0.2)
    verdicts = runs.groups(labels).verdicts("ndcg", "dense", "bm25")
    assert "question agrees with the overall difference; keyword is opposite." in verdicts
    assert not any(line.startswith("Only for") for line in verdicts)


def test_groups_beyond_the_printed_rows_are_counted():
    runs = comparison({"a": [0.0] * 84, "b": [1.0] * 84}, metric="cg")
    groups = runs.groups([query // 2 for query in range(84)], flips=99)
    ((_, table, _),) = blocks_of(groups)
    labels = [row[0] for row in table.rows]
    assert labels[1:41] == list(map(str, range(40)))
    assert len(labels) == 44  # plus the header, the number of remaining groups, the mean of the means, and all queries
