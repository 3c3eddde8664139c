"""The calls suggested by error messages must work."""

import io
import json
import math
import zipfile

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet
import pytest

import rankgain as rg
from rankgain import pytrec_eval
from rankgain.batches import summarize_batches

nan = math.nan
QRELS_DF = {"qid": [1, 1], "docid": ["x", "y"], "label": [1, 2]}
RUN_DF = {"qid": [1, 1], "docid": ["x", "y"], "rank": [1, 2]}


def evaluate_frames(qrels, run):
    return rg.from_frames(qrels, run).evaluate("rr")


@pytest.mark.parametrize("frame", [dict, pd.DataFrame, pl.DataFrame])
def test_nan_ranks_are_left_out(rejects, frame):
    run = frame(RUN_DF | {"rank": [1.0, nan]})
    message = "run_df: query 1, document 'y' (row 1): the rank is NaN; leave out documents without a rank"
    rejects(ValueError, message, evaluate_frames, frame(QRELS_DF), run)
    labels = frame({"qid": [1, 1], "label": [1, 0], "rank": [nan, 1.0]})
    rejects(ValueError, "qrels_df: column 'rank', row 0: the rank is NaN; leave out", rg.from_frames, labels)


def test_names_of_grades_are_mapped(rejects):
    text = (
        "must be a number, not str; convert numbers in text first, …, and names of grades by a mapping, ….map({'E': 3"
    )
    rejects(TypeError, text, evaluate_frames, QRELS_DF | {"label": ["E", "S"]}, RUN_DF)
    rejects(TypeError, text, rg.from_scores, ["E", "S"], [0.1, 0.2])
    for labels, advice in [
        (pd.Categorical(["E", "S"], ordered=True), "map the names of grades to numbers, as by .map({'E': 3, ...}) in"),
        (pd.Categorical(["1", "2"]), "cast it, for instance to float64"),
    ]:
        frame = pd.DataFrame(QRELS_DF | {"label": labels})
        rejects(TypeError, f"qrels_df: column 'label' must hold numbers; {advice}", evaluate_frames, frame, RUN_DF)
    frame = pl.DataFrame(QRELS_DF | {"label": ["E", "S"]})
    rejects(TypeError, "map the names of grades to numbers, as by .map({'E': 3", evaluate_frames, frame, RUN_DF)
    frame = pd.DataFrame(QRELS_DF | {"label": ["E", "S"]})
    mapped = frame.assign(label=frame["label"].map({"E": 3, "S": 2}))
    assert evaluate_frames(mapped, RUN_DF)["rr"].tolist() == [1.0]


@pytest.mark.parametrize("frame", [dict, pd.DataFrame, pl.DataFrame])
def test_ids_of_two_types_are_converted_to_text(rejects, frame):
    qrels, run = frame(QRELS_DF | {"docid": ["1", "2"]}), frame(RUN_DF | {"docid": [1, 2]})
    message = "str in qrels_df and int in run_df; convert those in run_df to text: str(id) (run_df['docid'].astype(str)"
    rejects(ValueError, message, evaluate_frames, qrels, run)
    message = "convert those in qrels_df to text: str(id) (qrels_df['docid'].astype(str) in pandas)"
    rejects(ValueError, message, evaluate_frames, frame(QRELS_DF | {"docid": [1, 2]}), frame(RUN_DF))
    message = "no query in common: int in qrels_df, str in run_df; convert those in qrels_df to text: str(id)"
    rejects(ValueError, message, evaluate_frames, frame(QRELS_DF), frame(RUN_DF | {"qid": ["1", "1"]}))
    message = "bytes in qrels_df and str in run_df; convert those in qrels_df to text: id.decode()"
    rejects(ValueError, message, evaluate_frames, frame(QRELS_DF | {"docid": [b"x", b"y"]}), frame(RUN_DF))
    message = "int in relevant and str in recommended; convert those in relevant to text: str(id)"
    rejects(ValueError, message, rg.from_recommendations, [[1]], [["1"]])
    message = "int in relevant and bytes in recommended; convert them to one type"
    rejects(ValueError, message, rg.from_recommendations, [[1]], [[b"1"]])


@pytest.mark.parametrize("frame", [dict, pd.DataFrame, pl.DataFrame])
def test_repeated_judgments_are_named_by_row(rejects, frame):
    qrels = frame({"qid": [2, 1, 1], "docid": ["x", "x", "x"], "label": [1, 1, 1]})
    message = "query 1, document 'x' (row 2): the document repeats an earlier one of the same query; keep one of them"
    with pytest.raises(ValueError, match=r"keep one of them$"):
        rg.judgments(qrels)
    rejects(ValueError, f"truth: {message}", rg.judgments, qrels)
    rejects(ValueError, f"qrels_df: {message}", evaluate_frames, qrels, frame(RUN_DF))
    run = frame(RUN_DF | {"docid": ["x", "x"]})
    rejects(ValueError, "keep one of them (in a run, duplicates='first' does)", evaluate_frames, frame(QRELS_DF), run)


REQUESTS = [
    ("'ndcg@0': k must be a positive integer, not '0'", "ndcg@0"),
    ("'ndcg@-1': k must be a positive integer, not '-1'", "ndcg@-1"),
    ("'ndcg(y_true=3)': 'y_true=3' is not a parameter; labels and scores are arguments: …from_scores(y_true, y_score)",
     "ndcg(y_true=3)"),
    ("'rr(threshold=4)': 'threshold=4' is not a parameter; write rel=4, the lowest relevant grade", "rr(threshold=4)"),
    ("'recall(relevance_level=2)@5': … write rel=2", "recall(relevance_level=2)@5"),
    ("unknown metric 'ndcg_exp@10': write 'ndcg(gain=exponential)@10'", "ndcg_exp@10"),
    ("unknown metric 'coverage@10': it needs the catalogue or features of items", "coverage@10"),
    ("unknown metric 'novelty': it needs the catalogue or features of items", "novelty"),
    ("unknown metric 'rmse': it is an error of predicted values", "rmse"),
]  # fmt: skip


@pytest.mark.parametrize(("message", "request_"), REQUESTS)
def test_requests_of_other_metrics_are_not_answered_with_a_similar_one(rejects, message, request_):
    rejects(ValueError, message, rg.from_ranked([1, 0]).evaluate, request_)
    with pytest.raises(ValueError) as error:  # noqa: PT011
        rg.from_ranked([1, 0]).evaluate(request_)
    assert "did you mean" not in str(error.value)


def test_none_is_rejected_as_a_value(rejects):
    score = "the score must be a number, not NoneType; leave out documents without a value"
    rejects(TypeError, f"query 'q', document 'a': {score}", rg.evaluate, {"q": {"a": 1}}, {"q": {"a": None}}, "rr")
    grade = "the grade must be a number, not NoneType; leave out documents without a value"
    rejects(TypeError, f"query 'q', document 'a': {grade}", rg.judgments, {"q": {"a": None}})
    rejects(TypeError, "y_score: position 0: must be a number, not NoneType; leave", rg.from_scores, [1, 0], [None, 1])
    none = "not None; write [] if there are none"
    rejects(TypeError, f"relevant: query 1: …{none}", rg.from_recommendations, [["a"], None], [["a"], ["b"]])
    rejects(
        TypeError, f"recommended: query 'v': …{none}", rg.from_recommendations, {"u": ["a"]}, {"u": ["a"], "v": None}
    )
    rejects(TypeError, "relevance: query 1: …not NoneType; write []", rg.from_ranked, [[1, 0], None])
    for sides in [({"q": None}, {"q": {"a": 1.0}}), ({"q": {"a": 1}}, {"q": None})]:
        rejects(TypeError, "query 'q': must be a mapping by document, not NoneType; write {}", rg.from_qrels, *sides)


def zipped(text):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("run.txt", text)
    return file.getvalue()


def parquet(text):
    file = io.BytesIO()
    pyarrow.parquet.write_table(pa.table({"text": [text]}), file)
    return file.getvalue()


OTHER_FORMATS = {
    "zip": (zipped, "a zip archive: extract the file"),
    "parquet": (parquet, "a parquet table: pass it to rankgain.evaluate or rankgain.from_frames"),
    "UTF-16": (lambda text: text.decode().encode("utf-16"), "UTF-16 text: convert it to UTF-8, as by iconv"),
}
QRELS_TEXT, RUN_TEXT = b"q 0 d 1\n", b"q Q0 d 1 0.5 t\n"


@pytest.mark.parametrize("name", OTHER_FORMATS)
def test_files_of_other_formats_are_named(rejects, tmp_path, name):
    convert, message = OTHER_FORMATS[name]
    qrels, run, other = (tmp_path / each for each in ("qrels", "run", "other"))
    qrels.write_bytes(QRELS_TEXT)
    run.write_bytes(RUN_TEXT)
    other.write_bytes(convert(QRELS_TEXT))
    rejects(ValueError, f"is {message}", rg.read_trec, other, run)
    other.write_bytes(convert(RUN_TEXT))
    rejects(ValueError, f"is {message}", rg.read_trec, qrels, other)
    rejects(ValueError, f"is {message}", rg.read_trec, qrels, other, duplicates="first")


LAYOUTS = [
    (b"q 0 d 1 0.5\n", "found 5; prels, which sample the pool"),
    (b"q 1 d 1\nq 2 d 1\n", "line 2, field 3: 'd' …; keep one of them; if field 2 is a subtopic"),
    (b"q 0 d 1\nr 0 d 1q 0 e 1\n", "line 2: …found 7; if files were joined here, the first lacked a final newline"),
]  # fmt: skip


@pytest.mark.parametrize(("qrels", "message"), LAYOUTS)
def test_other_layouts_of_qrels_are_named(rejects, tmp_path, qrels, message):
    path = tmp_path / "qrels"
    path.write_bytes(qrels)
    rejects(ValueError, message, rg.judgments, path)


def test_only_lines_that_run_together_look_joined(tmp_path):
    qrels = tmp_path / "qrels"
    for text in (b"q 0 d 1 x y z a\n", b"q 0 d 1 0.5\n", b"q 0 d 1\nq 0 d\n"):
        qrels.write_bytes(text)
        with pytest.raises(ValueError, match="expected 4 fields") as error:
            rg.judgments(qrels)
        assert "joined" not in str(error.value)
    qrels.write_bytes(b"q 0 d 1\nq 0 d 1\n")
    with pytest.raises(ValueError, match=r"already appears in an earlier line of the same query; keep one of them$"):
        rg.judgments(qrels)


@pytest.mark.usefixtures("backend")
def test_ids_in_tables_of_beir_may_hold_spaces(tmp_path):
    qrels = tmp_path / "qrels.tsv"
    qrels.write_bytes(b"query-id\tcorpus-id\tscore\nq one\tdoc one\t2\nq one\tdoc\t1\nq2\td\t1\n")
    run = {"q one": {"doc one": 1.0, "doc": 2.0}, "q2": {"d": 1.0}}
    assert rg.evaluate(qrels, run, "rr(rel=2)").to_dict()["q one"] == {"rr(rel=2)": 0.5}
    qrels.write_bytes(b"query-id corpus-id score\nq d 1\n")
    assert rg.judgments(qrels).query_ids == ["q"]


@pytest.mark.usefixtures("backend")
def test_results_of_numpy_ids_are_json():
    ids = [np.int64(3), np.str_("b")]
    for rankings in (
        rg.from_qrels({query: {"d": 1} for query in ids}, {query: {"d": 1.0} for query in ids}),
        rg.from_recommendations({query: ["d"] for query in ids}, {query: ["d"] for query in ids}),
        rg.from_ranked([[1], [1]], query_ids=ids),
        rg.from_scores([1, 1], [0.5, 0.1], qid=ids),
    ):
        assert json.loads(json.dumps(rankings.evaluate("rr").to_dict())) == {"3": {"rr": 1.0}, "b": {"rr": 1.0}}
        assert [type(query) for query in rankings.query_ids] == [int, str]


def test_errors_of_the_drop_in_name_its_argument(rejects):
    def evaluate(scores):
        return pytrec_eval.RelevanceEvaluator({"q": {"a": 1}}, {"map"}).evaluate(scores)

    rejects(ValueError, "scores: query 'q', document 'a': the score is NaN", evaluate, {"q": {"a": nan}})
    rejects(TypeError, "scores: query 'q', document 'a': the score must be", evaluate, {"q": {"a": "x"}})


class BrokenStream:
    def __arrow_c_stream__(self, requested_schema=None):
        return 5


def test_batches_reject_other_objects(rejects):
    message = "__arrow_c_stream__ did not return an Arrow stream"
    rejects(TypeError, f"batches: {message}", summarize_batches, BrokenStream(), "rr")
    rejects(TypeError, f"batches: item 0: {message}", summarize_batches, [BrokenStream()], "rr")
    message = "not LazyFrame; pass lazy.collect_batches() or lazy.collect()"
    lazy = pl.LazyFrame({"qid": [1], "label": [1], "score": [1.0]})
    rejects(TypeError, message, summarize_batches, lazy, "rr")
    assert summarize_batches(lazy.collect(), "rr").mean("rr") == 1.0
