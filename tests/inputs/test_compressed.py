"""Files that are compressed with gzip, bzip2, xz or Zstandard."""

import bz2
import gzip
import io
import lzma
import random
import sys
from importlib.util import find_spec
from types import SimpleNamespace

import pytest
from support.sides import qrels_lines, run_lines

import rankgain as rg
from rankgain.cli import main
from rankgain.data.detect import file_kind

QRELS = {"q": {"d": 1, "e": 2}, "r": {"d": 1}}
RUN = {"q": {"x": 3.0, "e": 2.0, "d": 1.0}, "r": {"d": 1.0, "e": 0.5}}
HAS_PYARROW = find_spec("pyarrow") is not None


def zstd(data):
    import pyarrow as pa

    return pa.compress(data, codec="zstd", asbytes=True)


FORMATS = {"gzip": gzip.compress, "bzip2": bz2.compress, "xz": lzma.compress}
if HAS_PYARROW:
    FORMATS["Zstandard"] = zstd
SUFFIXES = {"gzip": ".gz", "bzip2": ".bz2", "xz": ".xz", "Zstandard": ".zst"}
formats = pytest.mark.parametrize("name", FORMATS)


@formats
@pytest.mark.parametrize("parts", [1, 2])
def test_compressed_files_are_read(backend, tmp_path, name, parts):
    pack, expected = FORMATS[name], rg.from_qrels(QRELS, RUN).evaluate("ndcg@2", "rr")
    for side, text in (("qrels", qrels_lines(QRELS)), ("run", run_lines(RUN))):
        half = len(text) // parts
        (tmp_path / side).write_bytes(b"".join(pack(text[start : start + half]) for start in range(0, len(text), half)))
    paths = tmp_path / "qrels", tmp_path / "run"
    assert rg.read_trec(*paths).evaluate("ndcg@2", "rr") == expected
    assert rg.evaluate(*(io.BytesIO(path.read_bytes()) for path in paths), "ndcg@2", "rr") == expected


@formats
def test_compressed_tables_are_read(tmp_path, name):
    path, rows = tmp_path / "table", "query_id,doc_id,relevance,score\nq,d,1,0.5\nq,e,0,0.7\n"
    path.write_bytes(FORMATS[name](rows.encode()))
    if HAS_PYARROW:
        assert rg.evaluate(path, "rr").mean("rr") == 0.5
    kind, head, _ = file_kind(path, "table")
    assert (kind, head) == ("delimited", rows.encode())


def test_kind_is_recognised_if_a_block_is_long(tmp_path):
    """bzip2 decompresses blocks of 900 kB as a whole; these take more than the bytes that are read first."""
    rows = b"query_id,doc_id,relevance,score\n" + random.Random(0).randbytes(300_000).hex().encode()
    path = tmp_path / "table"
    path.write_bytes(bz2.compress(rows))
    assert file_kind(path, "table")[0] == "delimited"


@formats
@pytest.mark.parametrize("size", [30, -3])
def test_damaged_files_are_refused(backend, tmp_path, name, size):
    path = tmp_path / "qrels"
    path.write_bytes(FORMATS[name](qrels_lines({f"q{number}": {f"d{number * 7}": 1} for number in range(50)}))[:size])
    for read in (rg.judgments, lambda path: rg.evaluate(path, RUN, "rr")):
        with pytest.raises(ValueError, match=rf"qrels: the {name} data are damaged or cut off \("):
            read(path)


@formats
def test_errors_of_the_file_are_no_damage(name):
    data = FORMATS[name](qrels_lines(QRELS))

    class Failing(io.BytesIO):
        def read(self, size=-1):
            if self.tell() >= 20:
                raise OSError("lost")
            return super().read(min(size, 10))

    with pytest.raises(OSError, match=r"^lost$"):
        rg.judgments(Failing(data))


@formats
def test_runs_are_named_without_the_suffix(tmp_path, capsys, name):
    (tmp_path / "qrels").write_bytes(qrels_lines(QRELS))
    run = tmp_path / f"bm25.txt{SUFFIXES[name]}"
    run.write_bytes(FORMATS[name](run_lines(RUN)))
    assert main(["eval", str(tmp_path / "qrels"), str(run), "--csv", "-m", "rr"]) == 0
    assert capsys.readouterr().out.split() == ["run,rr", "bm25,0.75"]


def test_zstandard_without_pyarrow_says_what_is_needed(monkeypatch, tmp_path):
    path = tmp_path / "qrels"
    path.write_bytes(b"\x28\xb5\x2f\xfd" + bytes(20))
    monkeypatch.setitem(sys.modules, "compression.zstd", None)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ImportError, match=r"^Zstandard files need Python 3.14 or pyarrow; pyarrow is not installed: "):
        rg.judgments(path)


def test_zstandard_is_read_by_the_standard_library_if_it_can(monkeypatch, tmp_path):
    """From Python 3.14 on; here, xz stands in for it."""

    def of_xz(raw):
        assert raw.read(4) == b"\x28\xb5\x2f\xfd"
        return lzma.LZMAFile(raw)

    module = SimpleNamespace(ZstdFile=of_xz, ZstdError=lzma.LZMAError)
    monkeypatch.setitem(sys.modules, "compression.zstd", module)
    path = tmp_path / "qrels"
    path.write_bytes(b"\x28\xb5\x2f\xfd" + lzma.compress(qrels_lines(QRELS)))
    assert rg.evaluate(path, RUN, "rr").mean("rr") == 0.75
