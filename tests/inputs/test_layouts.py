"""Files in the layouts of BEIR and MS MARCO, and files passed in the wrong order."""

import gzip
import io

import pytest
from support.marks import in_one_case

import rankgain as rg
from rankgain.cli import main
from rankgain.data import files, lines

pytestmark = pytest.mark.usefixtures("backend")

QRELS = {"1": {"d1": 2, "d3": 1}, "2": {"d7": 1}}
RANKED = {"1": ["d2", "d1", "d9"], "2": ["d7"], "3": ["d1"]}
BEIR = "query-id\tcorpus-id\tscore\n1\td1\t2\n1\td3\t1\n2\td7\t1\n"
MSMARCO = "".join(f"{query}\t{doc}\t{rank}\n" for query, docs in RANKED.items() for rank, doc in enumerate(docs, 1))
TREC_QRELS = "1 0 d1 2\n1 0 d3 1\n2 0 d7 1\n"
TREC_RUN = "1 Q0 d2 1 1.4 t\n1 Q0 d1 2 0.9 t\n1 Q0 d9 3 0.2 t\n2 Q0 d7 1 2 t\n3 Q0 d1 1 1 t\n"
EXPECTED = rg.from_recommendations(QRELS, RANKED).evaluate("ndcg@10", "mrr", "num_ret")


def same(qrels, run, **options):
    qrels, run = (text.encode() if isinstance(text, str) else text for text in (qrels, run))
    result = rg.read_trec(io.BytesIO(qrels), io.BytesIO(run), **options).evaluate(*EXPECTED)
    assert result.query_ids == EXPECTED.query_ids
    assert result.counts == EXPECTED.counts
    assert {metric: vector.tolist() for metric, vector in result.items()} == {
        metric: vector.tolist() for metric, vector in EXPECTED.items()
    }


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("qrels", [BEIR, TREC_QRELS])
@pytest.mark.parametrize("run", [MSMARCO, TREC_RUN])
def test_layouts_of_beir_and_msmarco_are_recognised(qrels, run, threads):
    same(qrels, run, threads=threads)
    same(gzip.compress(qrels.encode()), gzip.compress(run.encode()), threads=threads)
    same(b"\xef\xbb\xbf" + qrels.replace("\n", "\r\n").encode(), run.replace("\n", "\r\n"), threads=threads)
    same("# a comment\n\n" + qrels.rstrip("\n"), "# a b c\n\n" + run.rstrip("\n"), threads=threads)


def test_header_may_be_spelled_in_other_ways():
    same(BEIR.replace("query-id\tcorpus-id", "query_id corpus_ID"), MSMARCO)
    assert len(rg.judgments(io.BytesIO(BEIR.encode()))) == 2


def test_layouts_are_read_in_small_blocks(monkeypatch):
    rows = [f"{query}\td{doc}\t{doc + 1}" for query in range(40) for doc in range(30)]
    qrels = "".join(f"{query} 0 d{query} 1\n" for query in range(30))
    whole = rg.read_trec(io.BytesIO(qrels.encode()), io.BytesIO("\n".join(rows).encode())).evaluate("rr")
    assert whole["rr"].tolist() == [1 / (query + 1) for query in range(30)]
    monkeypatch.setattr(files, "BLOCK", 512)
    for order in (rows, sorted(rows, key=lambda line: line.split("\t")[1])):
        for threads in (1, 2):
            text = "\n".join(order).encode()
            result = rg.read_trec(io.BytesIO(qrels.encode()), io.BytesIO(text), threads=threads).evaluate("rr")
            assert result["rr"].tolist() == whole["rr"].tolist()


def test_command_line_reads_the_layouts(tmp_path, capsys):
    paths = [tmp_path / "test.tsv", tmp_path / "run.tsv"]
    for path, text in zip(paths, (BEIR, MSMARCO), strict=True):
        path.write_text(text)
    assert main(["eval", *map(str, paths), "-m", "mrr", "--csv"]) == 0
    assert capsys.readouterr().out.splitlines()[1] == "run,0.75"
    read = rg.read_trec(*map(str, paths))
    assert read.under(ties="average").evaluate("mrr").mean("mrr") == 0.75  # this reads the files again


@in_one_case(
    ("qrels", "run", "message"),
    [
        (BEIR + "2\td8\tx\n", MSMARCO, r"qrels: line 5, field 3: 'x' is not a number"),
        (BEIR + "2\td8\n", MSMARCO, r"qrels: line 5: expected 3 fields \(query-id, .*, found 2"),
        (BEIR + "2\td7\t1\n", MSMARCO, r"qrels: line 5, field 2: 'd7' already appears in an earlier line"),
        (BEIR + "2 0 d8 1\n", MSMARCO, r"qrels: line 5: expected 3 fields .*, found 4"),
        (BEIR, MSMARCO + "3\td2\tx\n", r"run: line 6, field 3: 'x' is not a number"),
        (BEIR, MSMARCO + "3\td2\t-2\n", r"run: line 6, field 3: a rank must not be negative"),
        (BEIR, MSMARCO + "3 Q0 d2 2 0.5 t\n", r"run: line 6: expected 3 fields .*, found 6"),
        (BEIR, MSMARCO + "3\td2\n", r"run: line 6: expected 3 fields \(query, document, rank\), found 2"),
        (BEIR, MSMARCO + "3\td1\t2\n", r"run: line 6, field 2: 'd1' already appears in an earlier line"),
        (TREC_RUN, TREC_QRELS, r"qrels: line 1: expected 4 .* found 6; are qrels and run swapped\?"),
        (TREC_QRELS, TREC_QRELS, r"run: line 1: expected 6 .* found 4; are qrels and run swapped\?"),
        (TREC_QRELS, "1 Q0 first\n", r"run: line 1: expected 6 fields .*, found 3"),
        (TREC_QRELS, "1 d1 0.5\n", r"run: line 1: expected 6 fields .*, found 3"),
        ("query-id corpus-id\n1 d1\n", MSMARCO, r"qrels: line 1: expected 4 fields .*, found 2"),
    ],
)
def test_layout_errors_name_line_and_field(qrels, run, message):
    with pytest.raises(ValueError, match=message):
        rg.read_trec(io.BytesIO(qrels.encode()), io.BytesIO(run.encode()))


@pytest.mark.parametrize("block", [256, 512, 4096])
def test_long_lines_of_a_layout_are_read(monkeypatch, block):
    monkeypatch.setattr(lines, "LINE", 100)
    monkeypatch.setattr(files, "BLOCK", block)
    spaces = " " * 1000
    same(BEIR.replace("\t1\n", f"{spaces}1{spaces}\n"), MSMARCO.replace("\t3\n", f"{spaces}3{spaces}\n"))
    same(BEIR.replace("\t", " \v\f\t"), MSMARCO)
    name = "d" * 300
    with pytest.raises(ValueError, match=r"qrels: line 5, field 2: the field has more than 100 bytes"):
        same(f"{BEIR}2\t{name}\t1\n", MSMARCO)
    with pytest.raises(ValueError, match=r"run: line 6, field 2: the field has more than 100 bytes"):
        same(BEIR, f"{MSMARCO}3\t{name}\t2\n")
