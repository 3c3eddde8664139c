"""Judgments by subtopic on the command line."""

import pytest

from rankgain.cli import main

NUGGETS = "q1\tn1\ta\t1\nq1\tn1\tb\t1\nq1\tn1\td\t1\nq1\tn2\tb\t1\nq1\tn3\te\t1\nq1\tn3\tc\t1\nq2\tn1\ta\t1\n"
RUN = "".join(f"q1 Q0 {d} 1 {-rank} t\n" for rank, d in enumerate("axbde")) + "q2 Q0 x 1 2 t\nq2 Q0 a 2 1 t\n"
CSV = "query_id,about,doc_id,relevance\n" + NUGGETS.replace("\t", ",")


@pytest.fixture
def files(tmp_path):
    paths = []
    for name, text in (("nuggets.txt", NUGGETS), ("run.txt", RUN), ("other.txt", RUN.replace(" a 1 0 ", " a 1 -9 "))):
        (tmp_path / name).write_text(text)
        paths.append(str(tmp_path / name))
    return paths


def output(capsys, *arguments, status=0):
    assert main(arguments) == status
    return getattr(capsys.readouterr(), "err" if status else "out")


def test_eval(files, capsys, backend):
    out = output(capsys, "eval", "--subtopics", *files[:2], "-m", "alpha_nDCG@5", "-m", "strecall@1", "-m", "ndcg@5")
    assert out.splitlines()[2:5] == ["alpha_nDCG@5  0.6669", "strecall@1    0.1667", "ndcg@5        0.7085"]
    default = output(capsys, "eval", *files[:2], "--subtopics")
    assert [line.split()[0] for line in default.splitlines()[2:4]] == ["alpha_ndcg@10", "strecall@10"]
    assert "like ndeval" in output(capsys, "eval", "--subtopics", *files[:2], "-m", "nrbp", "--like", "ndeval")


@pytest.mark.needs("pyarrow")
def test_eval_of_a_table(files, capsys, tmp_path, backend):
    (tmp_path / "nuggets.csv").write_text(CSV)
    table = str(tmp_path / "nuggets.csv")
    whole = output(capsys, "eval", "--subtopics", *files[:2], "-m", "alpha_ndcg@5")
    assert output(capsys, "eval", "--subtopic", "about", table, files[1], "-m", "alpha_ndcg@5") == whole
    err = output(capsys, "eval", "--subtopics", table, files[1], status=1)
    assert "nuggets.csv has no subtopic column" in err
    assert "names a column" in output(capsys, "eval", "--subtopic", "about", *files[:2], status=1)


def test_compare_and_explain(files, capsys, backend):
    out = output(capsys, "compare", "--subtopics", *files, "-m", "strecall@1")
    assert "strecall@1" in out
    assert "other compared with run" in out
    out = output(capsys, "explain", "alpha_ndcg@5", "--subtopics", *files[:2], "--query-id", "q1")
    assert out.splitlines()[0] == "alpha_ndcg@5 of query q1: 2.2445 / 3.1930 = 0.7030"
    assert "n1(2) +n2" in out
    assert "strecall@3 of query q1" in output(capsys, "explain", "strecall@3", "--subtopics", *files[:2])


def test_refusals(files, capsys, backend):
    err = output(capsys, "eval", *files[:2], status=1)
    assert "if field 2 is a subtopic, write --subtopics" in err
    assert "argument --subtopics: give a file of qrels and one of each run" in usage(
        capsys, "eval", "--subtopics", files[0]
    )
    assert "tie_spread: nrbp" in output(
        capsys, "eval", "--subtopics", *files[:2], "-m", "nrbp", "--tie-spread", status=1
    )
    plain = files[1].replace("run", "plain")
    with open(plain, "w") as file:
        file.write("q1 0 a 1\n")
    assert "strecall@5 needs judgments by subtopic" in output(
        capsys, "eval", plain, files[1], "-m", "strecall@5", status=1
    )


def usage(capsys, *arguments):
    with pytest.raises(SystemExit, match="2"):
        main(arguments)
    return capsys.readouterr().err


def test_metrics_lists_them(capsys):
    out = output(capsys, "metrics")
    assert "nnrbp@k" in out
    assert "NAME_ia, the mean of NAME over subtopics" in out
    assert "nugget_recall" in output(capsys, "metrics", "strecall")
