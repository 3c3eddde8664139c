"""A line says that every rating counts as relevant in metrics with relevant and other documents."""

import numpy as np
import pytest

import rankgain as rg
from rankgain.cli import main

USERS, ITEMS = 40, 10
STARS = [0.06, 0.11, 0.27, 0.34, 0.22]  # the shares of one to five stars in MovieLens 100K
LINE = (
    "the grades look like ratings from 1 to 5, and every rating counts as relevant; "
    "rel=4 counts those from 4 on, as in "
)


def stars(rng):
    """Draw ratings by user and item, held out from a catalogue of 100 items, and lists of 20 items."""
    items = [rng.choice(100, ITEMS, replace=False).tolist() for _ in range(USERS)]
    ratings = rng.choice(5, (USERS, ITEMS), p=STARS) + 1
    truth = {str(user): dict(zip(items[user], ratings[user].tolist(), strict=True)) for user in range(USERS)}
    scores = rng.random((USERS, 100))
    for user in range(USERS):  # the model prefers what the user rates highly
        scores[user, items[user]] += 0.15 * (ratings[user] - 3)
    lists = np.argsort(-scores)[:, :20]
    run = {str(user): {int(item): float(scores[user, item]) for item in lists[user]} for user in range(USERS)}
    return truth, run


TRUTH, RUN = stars(np.random.default_rng(0))


def remarks(result):
    return [remark for remark in result.assumed if "every rating" in remark]


@pytest.mark.usefixtures("backend")
@pytest.mark.parametrize(
    "rankings",
    [
        lambda: rg.from_qrels(TRUTH, RUN),
        lambda: rg.from_recommendations(list(TRUTH.values()), [list(scores) for scores in RUN.values()]),
        lambda: rg.from_scores([list(row.values()) for row in TRUTH.values()], np.zeros((USERS, ITEMS))),
        lambda: rg.from_ranked([np.array([*row.values()], dtype=np.uint8) for row in TRUTH.values()]),
        lambda: rg.from_ranked([[0]] * USERS, judged=[list(row.values()) for row in TRUTH.values()]),
    ],
    ids=["dicts", "lists of ids", "scores", "grades", "judged"],
)
def test_ratings_in_each_form(rankings):
    assert remarks(rankings().evaluate("ndcg", "rr@10")) == [f"{LINE}rr(rel=4)"]


@pytest.mark.parametrize(
    ("scale", "expected"),
    [
        (lambda grade: grade, "from 1 to 5, and every rating counts as relevant; rel=4 "),
        (
            lambda grade: grade - 0.5 if grade < 3 else grade,
            "from 0.5 to 5, and every rating counts as relevant; rel=4 ",
        ),
        (lambda grade: 2 * grade - (grade == 1), "from 1 to 10, and every rating counts as relevant; rel=8 "),
    ],
    ids=["stars", "half stars", "ten points"],
)
def test_scales(scale, expected):
    truth = {user: {item: scale(grade) for item, grade in row.items()} for user, row in TRUTH.items()}
    (remark,) = remarks(rg.from_qrels(truth, RUN).evaluate("recall@10"))
    assert expected in remark


@pytest.mark.parametrize(
    ("metrics", "options"),
    [(["ndcg@10"], {}), (["recall(rel=4)@10", "rr(rel=1)"], {}), (["recall@10"], {"like": "ranx"})],
    ids=["gains", "rel is given", "the rules of a tool"],
)
def test_metrics_without_the_line(metrics, options):
    assert remarks(rg.from_qrels(TRUTH, RUN).evaluate(*metrics, **options)) == []


def test_few_grades_are_not_recognised():
    few = dict([*TRUTH.items()][:19])
    assert remarks(rg.from_qrels(few, RUN).evaluate("recall@10")) == []


def test_rel_changes_the_value():
    result = rg.from_qrels(TRUTH, RUN).evaluate("recall@10", "recall(rel=4)@10")
    assert [round(value, 3) for value in result.mean().values()] == [0.23, 0.353]


def test_line_of_comparisons_and_commands(tmp_path, capsys):
    comparison = rg.compare(TRUTH, {"one": RUN, "two": RUN}, "rr")
    assert f"{LINE}rr(rel=4)" in " ".join(str(comparison).split())
    assert f"{LINE}rr(rel=4)" in " ".join(str(comparison.test()).split())
    paths = [tmp_path / "qrels", tmp_path / "run"]
    paths[0].write_text("".join(f"{user} 0 {item} {g}\n" for user, row in TRUTH.items() for item, g in row.items()))
    paths[1].write_text("".join(f"{user} Q0 {item} 0 {s} t\n" for user, row in RUN.items() for item, s in row.items()))
    assert main(["eval", *map(str, paths), "-m", "rr"]) == 0
    assert f"{LINE}rr(rel=4)" in " ".join(capsys.readouterr().out.split())


HONEST = {
    "binary": lambda rng, n: np.ones(n),
    "counts": lambda rng, n: rng.geometric(0.4, n),
    "counts up to 5": lambda rng, n: np.minimum(rng.geometric(0.4, n), 5),
    "grades from 0 to 4": lambda rng, n: rng.choice(5, n, p=[0.3, 0.3, 0.2, 0.1, 0.1]),
    "relevant ones from 1 to 3": lambda rng, n: rng.integers(1, 4, n),
    "relevant ones from 1 to 5, rarely high": lambda rng, n: rng.choice(5, n, p=[0.4, 0.25, 0.15, 0.12, 0.08]) + 1,
    "ranks of a teacher": lambda rng, n: np.resize(np.arange(10, 0, -1), n),
    "simulated": lambda rng, n: rng.integers(1, 6, n),
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", HONEST)
def test_honest_grades_draw_no_line(kind):
    rng = np.random.default_rng([*HONEST].index(kind))
    for _ in range(300):
        grades = HONEST[kind](rng, int(rng.choice([200, 500, 2000])))
        assert remarks(rg.from_ranked([grades]).evaluate("rr")) == []


@pytest.mark.slow
def test_ratings_draw_the_line():
    for seed in range(300):
        assert remarks(rg.from_qrels(*stars(np.random.default_rng(seed))).evaluate("rr"))
