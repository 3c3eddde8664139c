"""Columns that would have two roles, columns that two frames share, and the rows of several runs in one table."""

import io
import warnings

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from support.marks import in_one_case

import rankgain as rg
from rankgain.batches import BatchOptions, summarize_batches

pytestmark = pytest.mark.usefixtures("backend")

FRAMES = [dict, pd.DataFrame, pl.DataFrame, pa.table]
IDS = {"query_id": ["q"] * 3, "doc_id": ["a", "b", "c"]}
QRELS = IDS | {"relevance": [1, 0, 0]}
RUN = IDS | {"score": [0.1, 0.2, 0.3]}


def without(table, *names):
    return {name: values for name, values in table.items() if name not in names}


TWO_ROLES = [
    (IDS | {"score": [1, 0, 2]}, {"relevance": "score"}, "relevance='score' names the column .* also be the score"),
    (IDS | {"rank": [1, 0, 2]}, {"relevance": "rank"}, "relevance='rank' names the column .* also be the rank"),
    (IDS | {"RELEVANCE": [1, 0, 2]}, {"score": "RELEVANCE"}, "score='RELEVANCE' names .* also be the relevance"),
    ({"qid": [1, 1], "score": [1, 0]}, {"relevance": "score"}, "relevance='score' names .* also be the score"),
    (QRELS | {"score": [1, 0, 2]}, {"doc": "query_id"}, "doc='query_id' names .* also be the query"),
]


@pytest.mark.parametrize("frame", FRAMES)
@pytest.mark.parametrize(("table", "names", "message"), TWO_ROLES)
def test_a_column_has_one_role(frame, table, names, message, tmp_path):
    path = tmp_path / "table.csv"
    pd.DataFrame(table).to_csv(path, index=False)
    for call in (rg.from_frames, lambda given, **names: rg.evaluate(given, "rr", **names)):
        for given in (frame(table), path):
            with pytest.raises(ValueError, match=message):
                call(given, **names)


def test_a_column_has_two_roles_if_both_are_named():
    ideal = {"qid": [1, 1, 1], "grade": [0, 2, 1]}
    assert rg.evaluate(ideal, "ndcg", relevance="grade", score="grade").mean("ndcg") == 1.0
    assert rg.evaluate(IDS | {"score": [1, 0, 2]}, "rr", relevance="score", score="score").mean("rr") == 1.0


def test_a_column_has_one_role_in_each_of_two_frames_in_rows_and_in_batches():
    for qrels, run in [(without(QRELS, "doc_id") | {"item_id": ["a", "b", "c"]}, RUN), (rg.judgments(QRELS), RUN)]:
        with pytest.raises(ValueError, match="query='doc_id' names the column that would also be the doc"):
            rg.from_frames(qrels, run, query=("query_id", "doc_id"))
    with pytest.raises(ValueError, match="truth: doc='relevance' names the column that would also be the relevance"):
        rg.judgments(QRELS, doc="relevance")
    with pytest.raises(ValueError, match=r"table: relevant='retrieved' names the column .* also be the retrieved"):
        rg.from_rows({"id": [1], "retrieved": [["a"]]}, relevant="retrieved")
    rows = pa.table({"qid": [1, 1], "score": [1.0, 0.0]})
    with pytest.raises(ValueError, match="relevance='score' names the column that would also be the score"):
        summarize_batches(rows, "ndcg", options=BatchOptions(relevance="score"))


MOVIES = without(QRELS, "doc_id") | {"item_id": ["x", "y", "z"], "movie_id": ["a", "b", "c"]}
FILMS = without(RUN, "doc_id") | {"movieId": ["c", "b", "a"]}


@pytest.mark.parametrize("frame", FRAMES)
def test_two_frames_are_matched_by_the_column_that_both_have(frame):
    line = "the doc column is 'movie_id', since run_df has no 'item_id' as qrels_df has; doc= takes other columns"
    result = rg.from_frames(frame(MOVIES), frame(FILMS)).evaluate("rr")
    assert result.mean("rr") == 1.0
    assert result.assumed == (line,)
    assert line in str(result)
    swapped = rg.from_frames(frame(without(QRELS, "doc_id") | {"movie_id": ["a", "b", "c"]}), frame(RUN | FILMS))
    assert swapped.evaluate("rr").mean("rr") == 1.0
    assert "since qrels_df has no 'doc_id' as run_df has" in swapped.evaluate("rr").assumed[0]
    named = rg.from_frames(frame(MOVIES), frame(FILMS), doc=("movie_id", "movieId")).evaluate("rr")
    assert named.mean("rr") == 1.0
    assert named.assumed == ()


def test_columns_that_nothing_decides_are_read_as_before():
    others = without(RUN, "doc_id") | {"product_id": ["x", "y", "z"], "movie_id": ["a", "b", "c"]}
    both = without(QRELS, "doc_id") | {"corpus_id": ["x", "y", "z"], "movie_id": ["c", "b", "a"]}
    assert rg.from_frames(both, others | {"item_id": ["z", "y", "x"]}).evaluate("rr").assumed == ()
    assert rg.from_frames(QRELS, RUN).evaluate("rr").assumed == ()
    users = {"user_id": [7], "query": ["q"], "doc_id": ["a"], "relevance": [1]}
    queries = {"query": ["q"], "doc_id": ["a"], "score": [1]}
    assert rg.from_frames(users, queries).evaluate("rr").assumed == ()


def test_prepared_judgments_that_were_read_by_another_column():
    message = "was read by the doc column 'item_id', which run.* lacks; both have 'movie_id': name it, doc='movie_id'"
    judged = rg.judgments(MOVIES)
    for call in (
        lambda: rg.from_frames(judged, FILMS),
        lambda: rg.evaluate(judged, FILMS, "rr"),
        lambda: rg.compare(MOVIES, {"a": FILMS}, ["rr"]),
    ):
        with pytest.raises(ValueError, match=message.replace("movie_id'", "movieId'", 1)):
            call()
    assert rg.from_frames(rg.judgments(MOVIES, doc="movie_id"), FILMS).evaluate("rr").mean("rr") == 1.0


@pytest.mark.parametrize("frame", FRAMES)
def test_spellings_that_differ_only_in_case(frame):
    table = without(QRELS, "doc_id") | {"DocId": ["x", "y", "z"], "docID": ["a", "b", "c"]}
    message = "has the columns 'DocId' and 'docID', which differ only in case and separators: name one of them, doc="
    with pytest.raises(ValueError, match=message):
        rg.from_frames(frame(table), frame(RUN))
    assert rg.from_frames(frame(table), frame(RUN), doc=("docID", None)).evaluate("rr").mean("rr") == 1 / 3
    assert rg.from_frames(frame(table | {"doc_id": ["a", "b", "c"]}), frame(RUN)).evaluate("rr").mean("rr") == 1 / 3


def two_runs(name, docs=("a", "b", "c")):
    first = RUN | {name: ["bm25"] * 3}
    second = {"query_id": ["q"] * 3, "doc_id": list(docs), "score": [3.0, 2.0, 1.0], name: ["dense"] * 3}
    return {column: first[column] + second[column] for column in first}


@in_one_case("frame", FRAMES)
@pytest.mark.parametrize("name", ["system", "run", "run_id", "Tag", "model"])
def test_several_runs_in_one_frame(frame, name):
    message = (
        f"run_df holds several runs: query 'q', document 'a' stands under 'bm25' and 'dense' in column '{name}'; to "
        "compare them"
    )
    for options in ({}, {"duplicates": "first"}):
        with pytest.raises(ValueError, match=message):
            rg.from_frames(frame(QRELS), frame(two_runs(name)), **options)
    both = {column: values * 2 for column, values in QRELS.items()} | two_runs(name)
    with pytest.raises(ValueError, match="qrels_df holds several runs"):
        rg.from_frames(frame(both))
    shards = two_runs(name, ["d", "e", "f"])
    assert rg.from_frames(frame(QRELS), frame(shards)).evaluate("rr").mean("rr") == 1 / 6


def test_the_line_that_compares_the_runs_of_a_frame():
    run_df, truth, metrics = pd.DataFrame(two_runs("system")), QRELS, ["rr"]
    with pytest.raises(ValueError, match="several runs") as error:
        rg.evaluate(truth, run_df, *metrics)
    line = str(error.value).partition("write rankgain.")[2]
    comparison = eval(f"rg.{line}", {"rg": rg, "truth": truth, "run_df": run_df, "metrics": metrics})
    assert comparison.means() == {"bm25": {"rr": 1 / 3}, "dense": {"rr": 1.0}}


def trec(lines):
    return io.BytesIO("\n".join(lines).encode())


TREC_QRELS = [f"q{query} 0 d1 1" for query in range(3)]


def run_lines(tag, docs=(1, 2, 3), score=lambda rank: -rank, rank=lambda rank: rank, queries=3):
    return [
        f"q{query} Q0 d{doc} {rank(position)} {score(position)} {tag}"
        for query in range(queries)
        for position, doc in enumerate(docs, 1)
    ]


def read(lines, **options):
    return rg.read_trec(trec(TREC_QRELS), trec(lines), **options).evaluate("rr").mean("rr")


@pytest.mark.parametrize("duplicates", ["error", "first"])
def test_several_runs_in_one_file(duplicates):
    first = run_lines("a")
    split = r"so the file holds several runs: to compare them, write .*run='tag'\)"
    for second in (run_lines("b"), run_lines("b", docs=(4, 5, 6))):
        for lines in (first + second, sorted(first + second)):
            with pytest.raises(ValueError, match=f"the ranks repeat in 3 of 3 queries, and not within a tag, {split}"):
                read(lines, duplicates=duplicates)
    unranked = run_lines("a", rank=lambda _: 0) + run_lines("b", docs=(3, 4), rank=lambda _: 0)
    with pytest.raises(ValueError, match=rf"line 10: 'd3' .*, with the tag 'a' instead of 'b', {split}"):
        read(unranked, duplicates=duplicates)


def test_several_tags_alone_are_no_error():
    second = run_lines("b", docs=(3, 4), score=lambda rank: -rank - 2, rank=lambda rank: rank + 2)
    ranks = run_lines("a", docs=(1, 2)) + second
    arms = run_lines("a", queries=1) + run_lines("b")[3:]
    zero = run_lines("a", rank=lambda _: 0) + run_lines("b", docs=(4, 5), rank=lambda _: 0)
    for lines in (ranks, arms):
        assert read(lines) == 1.0
    assert read(zero) == 0.5  # d4 ties with d1, and its id is higher
    again = run_lines("a", docs=(1, 2, 1)) + run_lines("b", docs=(3,), score=lambda _: -9, rank=lambda _: 9)
    assert read(again, duplicates="first") == 1.0  # a passage of the same document, within one run


def warned(call):
    with warnings.catch_warnings(record=True) as record:
        warnings.simplefilter("always")
        result = call()
    assert {warning.filename for warning in record} <= {__file__}
    return result, [str(warning.message) for warning in record]


@pytest.mark.parametrize("frame", FRAMES)
def test_scores_that_rise_with_the_rank(frame):
    run = RUN | {"rank": [1, 2, 3]}
    for names in ({}, {"score": "score"}):
        result, messages = warned(lambda names=names: rg.from_frames(frame(QRELS), frame(run), **names).evaluate("rr"))
        assert messages == [
            "'score' rises with 'rank' in every query, and the highest score comes first: if lower is better, write "
            "rank='rank'"
        ]
        assert result.assumed[0].startswith("ranks and scores disagree in 1 of 1 queries; scores were taken")
    log = frame({"qid": [1] * 3, "label": [1, 0, 0], "score": [0.1, 0.2, 0.3], "rank": [1, 2, 3]})
    assert len(warned(lambda: rg.from_frames(log))[1]) == 1
    assert warned(lambda: rg.from_frames(frame(QRELS), frame(run), rank="rank").evaluate("rr").assumed) == ((), [])
    assert warned(lambda: rg.from_frames(log, rank="rank").evaluate("rr").assumed) == ((), [])
    scattered = {name: [values[row] for row in (2, 0, 1)] for name, values in run.items()}
    assert len(warned(lambda: rg.from_frames(frame(QRELS), frame(scattered)))[1]) == 1


@in_one_case("frame", FRAMES)
@pytest.mark.parametrize(
    ("scores", "ranks", "disagree"),
    [
        ([0.3, 0.1, 0.2], [1, 2, 3], True),
        ([0.3, 0.2, 0.1], [1, 2, 3], False),
        ([0.2, 0.2, 0.1], [1, 1, 3], False),
        ([0.2, 0.2, 0.1], [2, 1, 3], False),
        ([0.1, 0.1, 0.2], [3, 2, 1], False),
        ([0.1, 0.2, 0.2], [1, 2, 3], True),
        ([0.1, 0.2, 0.3], ["i", "ii", "iii"], False),
        ([0.1, 0.2, 0.3], [None, 2, 3], False),
    ],
)
def test_ranks_that_disagree_with_scores(frame, scores, ranks, disagree):
    run = RUN | {"score": scores, "rank": ranks}
    result, messages = warned(lambda: rg.from_frames(frame(QRELS), frame(run)).evaluate("rr"))
    assert messages == []
    line = (
        "ranks and scores disagree in 1 of 1 queries; scores were taken, as trec_eval does; rank='rank' takes the ranks"
    )
    assert result.assumed == ((line,) if disagree else ())


def test_disagreement_is_counted_in_the_first_thousand_queries():
    queries = [query for query in range(1001) for _ in range(3)]
    run = {"qid": queries, "doc_id": [0, 1, 2] * 1001, "score": [3.0, 1.0, 2.0] * 1001, "rank": [1, 2, 3] * 1001}
    qrels = {"qid": [0], "doc_id": [0], "relevance": [1]}
    assert "disagree in 1000 of the first 1000 queries" in rg.from_frames(qrels, run).evaluate("rr").assumed[0]


def test_files_whose_scores_rise_with_the_rank():
    rising = run_lines("a", score=lambda rank: rank / 10)
    message = "the scores rise with the rank in every query, and the highest score comes first, as in trec_eval"
    for lines in (rising, sorted(rising, reverse=True)):
        assert message in warned(lambda lines=lines: read(lines))[1][0]
    for lines in (
        run_lines("a"),
        run_lines("a", rank=lambda _: 0, score=lambda rank: rank),
        rising[:6] + run_lines("a")[6:],
        run_lines("a", docs=(1, 2), score=lambda rank: rank),
        run_lines("a", score=lambda rank: rank // 2),
    ):
        assert warned(lambda lines=lines: read(lines))[1] == []


QUERIES = ["p", "q", "r"]
DICT_QRELS = {query: {"a": 1} for query in QUERIES}


def of_values(*values, queries=QUERIES):
    return {query: dict(zip("abcd", values, strict=False)) for query in queries}


@in_one_case(
    ("run", "line"),
    [
        (of_values(1, 2, 3), "the scores of every query are 1, 2, 3, … in the order given"),
        (of_values(0.0, 1.0, 2.0), "the scores of every query are 0.0, 1.0, 2.0, … in the order given"),
        (of_values(1, 2, 3) | of_values(1, queries=["p"]), None),
        (of_values(1, 2), None),
        (of_values(1, 2, 4), None),
        (of_values(2, 3, 4), None),
        (of_values(3, 2, 1), None),
        (of_values(True, 2, 3), None),
        (of_values(1, 2, 3, queries=["p", "q"]), None),
        (of_values(0.5, 0.5, 0.5), "all scores are equal in every query: only the rule for ties orders the documents"),
        (of_values(0.5, 0.5), None),
        (of_values(0.5, 0.5, 0.4), None),
        ({}, None),
    ],
)
def test_dicts_of_ranks_and_of_equal_scores(run, line):
    for query in QUERIES:
        run.setdefault(query, {})
    result, messages = warned(lambda: rg.evaluate(DICT_QRELS, run, "rr"))
    assert messages == []
    assert len(result.assumed) == (line is not None)
    assert line is None or result.assumed[0].startswith(line)
    again = rg.from_qrels(DICT_QRELS, run).under(missing="skip").evaluate("rr")
    assert again.assumed == result.assumed


def test_the_line_that_turns_ranks_into_scores():
    run = of_values(1, 2, 3)
    line = rg.evaluate(DICT_QRELS, run, "rr").assumed[0].partition("write ")[2]
    assert rg.evaluate(DICT_QRELS, eval(line, {"run": run}), "rr").mean("rr") == 1.0


@pytest.mark.parametrize("frame", FRAMES)
def test_equal_scores_in_a_frame(frame):
    run = RUN | {"score": [1, 1, 1]}
    line = ("all scores are equal in every query: only the rule for ties orders the documents",)
    assert rg.from_frames(frame(QRELS), frame(run)).evaluate("rr").assumed == line
    two = {name: values * 2 for name, values in run.items()} | {"query_id": ["q"] * 3 + ["r"] * 3}
    assert rg.from_frames(frame(QRELS), frame(two | {"score": [1, 1, 1, 2, 2, 2]})).evaluate("rr").assumed == line
    assert rg.from_frames(frame(QRELS), frame(two | {"score": [1, 1, 1, 2, 2, 1]})).evaluate("rr").assumed == ()


def test_the_line_that_numbers_rows_in_rank_order():
    run_df = pd.DataFrame(IDS)
    with pytest.raises(ValueError, match="if the rows of each query are in rank order, write ") as error:
        rg.from_frames(QRELS, run_df)
    exec(str(error.value).partition("in rank order, write ")[2], {"run_df": run_df})
    assert rg.from_frames(QRELS, run_df).evaluate("rr").mean("rr") == 1.0
