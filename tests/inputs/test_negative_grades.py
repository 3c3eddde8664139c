"""The warning about negative grades, which mean that a document is unjudged."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from support.marks import in_one_case
from support.sides import columns, qrels_lines, run_lines

import rankgain as rg
from rankgain import pytrec_eval

pytestmark = pytest.mark.usefixtures("backend")

QRELS = {"q1": {"d1": 2, "d2": -1, "d3": -3.5}, "q2": {"d7": -3, "d8": 1, "d9": -2}}
RUN = {"q1": {"d1": 1.0, "d2": 2.0}, "q2": {"d8": 1.0}}
MESSAGE = r"has 2 negative grades other than -1 and -2, such as -3.5: such documents count as unjudged"


def matrix():
    return sparse.csr_matrix(np.array([[2, -1, -3.5], [-3, 1, -2]]))


CALLS = {
    "from_qrels": lambda: rg.from_qrels(QRELS, RUN),
    "from_qrels of the run's queries": lambda: rg.from_qrels(QRELS, RUN, missing="skip"),
    "judgments": lambda: rg.judgments(QRELS),
    "evaluate": lambda: rg.evaluate(QRELS, RUN, "rr"),
    "compare": lambda: rg.compare(QRELS, {"a": RUN, "b": RUN}, ["rr"]),
    "from_recommendations": lambda: rg.from_recommendations(QRELS, {"q1": ["d1"], "q2": ["d8"]}),
    "many": lambda: rg.from_recommendations([*QRELS.values()], [["d1"], [f"x{i}" for i in range(2000)]]),
    "sparse": lambda: rg.from_recommendations(matrix(), [[0], [1]]),
    "judgments of a sparse matrix": lambda: rg.judgments(matrix()),
    "from_frames": lambda: rg.from_frames(columns(QRELS), columns(RUN, value="score")),
    "pandas": lambda: rg.from_frames(pd.DataFrame(columns(QRELS)), pd.DataFrame(columns(RUN, value="score"))),
    "judgments of a frame": lambda: rg.judgments(pl.DataFrame(columns(QRELS), strict=False)),
}


@in_one_case("name", CALLS)
def test_other_negative_grades_are_counted_in_one_warning(name):
    with pytest.warns(UserWarning, match=MESSAGE) as record:
        CALLS[name]()
    assert len(record) == 1
    assert record[0].filename == __file__


def test_one_negative_grade_is_warned_of():
    with pytest.warns(UserWarning, match="qrels has 1 negative grade other than"):
        rg.from_qrels({"q1": {"d1": 1, "d2": -0.5}}, RUN)


def test_no_warning_of_minus_1_and_2_nor_of_files_and_drop_ins(tmp_path):
    usual = {query: {d: max(grade, -2) for d, grade in grades.items()} for query, grades in QRELS.items()}
    usual["q1"]["d3"] = np.float32(-1)
    qrels, run = tmp_path / "qrels.txt", tmp_path / "run.txt"
    qrels.write_bytes(qrels_lines(QRELS))
    run.write_bytes(run_lines(RUN))
    with pytest.warns(UserWarning, match=MESSAGE):
        prepared = rg.judgments(QRELS)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for sides in [(usual, RUN), (prepared, RUN), (columns(usual), columns(RUN, value="score"))]:
            assert rg.evaluate(*sides, "rr").mean("rr") == 0.75
        assert rg.judgments(prepared) is not None
        assert rg.read_trec(qrels, run).evaluate("rr").mean("rr") == 0.75
        assert rg.evaluate(rg.judgments(qrels), RUN, "rr").mean("rr") == 0.75
        whole = {query: {d: int(grade) for d, grade in grades.items()} for query, grades in QRELS.items()}
        pytrec_eval.RelevanceEvaluator(whole, {"map"}).evaluate(RUN)
