"""TREC files: qrels and a run as text, from a path, standard input or an open file, compressed or not.

Qrels are read whole. A run is read in blocks, and of each query only its hits are kept, so memory does not grow with
the file as long as the lines of a query stand together; where they do not, the file is read a second time, whole.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Hashable, Iterable, Iterator
from contextlib import ExitStack, closing, contextmanager
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from rankgain import _backend, _codes
from rankgain.batch import Hits, Needs
from rankgain.errors import Fault, Offence, refusal
from rankgain.groups import Groups
from rankgain.ids import Rows, TextIds, decoded, stretches
from rankgain.lists import CHUNK, Floats, Ints
from rankgain.rankings import TIES, Rankings, check_missing, check_ties, chunks
from rankgain.tables import Table
from rankgain.truth import Judged, Judgments, of_ids

Source = str | os.PathLike[str] | BinaryIO

BLOCK = 1 << 20  # bytes of a run that are looked at together
KEPT = 1 << 25  # bytes of what cannot be read twice that are kept in memory; the rest goes to a temporary file
GZIP = b"\x1f\x8b"  # how gzip begins
MARK = b"\xef\xbb\xbf"  # how UTF-8 begins where an editor marked it
EVERYTHING = Needs(_codes.UNLIMITED, _codes.UNLIMITED, zeros=True)


def read_trec(
    qrels: Source | Judgments,
    run: Source,
    *,
    ties: str = "docid",
    missing: str = "zero",
    query_ids: Iterable[Hashable] | None = None,
) -> Rankings:
    """Rankings from a qrels file and a run file, as trec_eval reads them.

    Both may be compressed with gzip. Fields stand apart by white space; blank lines and lines that begin with ``#`` are
    passed over. Ids are any bytes. The run is read once, in blocks: memory does not grow with its size where the lines
    of each query stand together.

    Parameters
    ----------
    qrels : path, "-", open binary file, or Judgments
        Lines ``query iteration document grade``. Grades may be real; below 0: pooled but unjudged. "-" is standard
        input.
    run : path, "-" or open binary file
        Lines ``query Q0 document rank score tag``; the rank is not looked at, the score orders. Further fields belong
        to the tag.
    ties, missing, query_ids
        As in `from_qrels`; ids are compared by byte.

    Returns
    -------
    Rankings
        The queries in the order of the qrels. Ids that are not UTF-8 hold their bytes as lone surrogates.

    Raises
    ------
    OSError
        If a file cannot be read.
    ValueError
        For a line with too few fields (or, in qrels, too many), a grade or a score that is no number, a document that
        stands in a query twice: the file, the line and the field are named. For a file that is damaged, or that
        becomes shorter while it is read. If no query is on both sides.

    Examples
    --------
    >>> import rankgain as rg
    >>> qrels, run = rg.sample()
    >>> result = rg.read_trec(qrels, run).evaluate("ndcg@10", "mrr@10")
    >>> round(result.mean("ndcg@10"), 4)
    0.5314
    """
    check_ties(ties, ids=True)
    check_missing(missing)
    if _is_standard_input(qrels) and _is_standard_input(run):
        raise ValueError("qrels and run cannot both be standard input")
    truth = qrels if isinstance(qrels, Judgments) else read_qrels(qrels, "qrels")
    with opened(run, "run") as source:
        places = _place(source, truth, TIES[ties])
    return Placed(truth, source.name, places, ties=ties, missing=missing, query_ids=query_ids)


def read_qrels(source: Source, argument: str = "qrels") -> Judgments:
    """The judgments in a qrels file."""
    with opened(source, argument) as file:
        block = Block(file.whole(), 0, _QRELS, file.name)
    groups = block.groups()
    truth = of_ids(file.name, groups, TextIds(block.bytes, block.starts, block.ends, "str"), block.values)
    if truth.fault is not None:  # a scan refuses all but documents that stand twice
        rows, offsets = groups.rows(np.arange(len(groups)))
        raise block.repeated(rows, int(offsets[truth.fault[1]]) + truth.fault[2])
    return truth


# bytes


def _is_standard_input(source: Any) -> bool:
    return isinstance(source, str) and source == "-"


class File:
    """The bytes of a file, uncompressed; they can be gone through twice, wherever they come from."""

    def __init__(self, file: BinaryIO, name: str) -> None:
        self.name = name
        self._file: Any = file
        self._start = file.tell() if _seekable(file) else None
        self._kept = _storage() if self._start is None else None
        self._size = _size(file)

    def begin(self) -> None:
        """Look how the file begins, where it stands now."""
        self._done = 0
        self._ahead = b""
        start = self.take(len(GZIP))
        self._ahead = start + self._ahead
        self._stream: Any = _Raw(self)
        self._damage: tuple[type[Exception], ...] = ()
        if start == GZIP:
            self._stream, self._damage = _inflating(self._stream)
        first = self._text(len(MARK))
        self._first = b"" if first == MARK else first

    def _raw(self, size: int) -> bytes:
        """Up to so many bytes as the file holds them, or more if it will; none at its end."""
        try:
            data = self._file.read(size)
        except OSError as error:
            if error.errno is not None and error.filename is None:
                error.filename = self.name
            raise
        if not isinstance(data, bytes):
            raise TypeError(f"{self.name} must be opened in binary mode: its read() gave {type(data).__name__}")
        if self._kept is not None and self._kept is not self._file:
            self._kept.write(data)
        self._done += len(data)
        if not data and self._size is not None and self._done < self._size:
            raise ValueError(f"{self.name} became shorter while it was read: {self._done} bytes of {self._size}")
        return data

    def take(self, size: int) -> bytes:
        """So many bytes as the file holds them, however few it gives at once; less at its end."""
        parts, have = [self._ahead] if self._ahead else [], len(self._ahead)
        while have < size and (more := self._raw(size - have)):
            parts.append(more)
            have += len(more)
        data = b"".join(parts)
        self._ahead = data[size:]
        return data[:size]

    def _text(self, size: int) -> bytes:
        try:
            data: bytes = self._stream.read(size)
        except self._damage as error:
            raise ValueError(f"{self.name}: the gzip data are damaged or cut off ({error})") from None
        return data

    def read(self, size: int) -> bytes:
        """So many bytes of the text, at its beginning three more; less at its end."""
        first, self._first = self._first, b""
        return first + self._text(size)

    def whole(self) -> bytes:
        """All of the text that is left."""
        return b"".join(iter(lambda: self.read(BLOCK), b""))

    def again(self) -> None:
        """Back to the beginning."""
        if self._kept is not None:
            while self._raw(BLOCK):  # keep the rest
                pass
            self._file = self._kept
        self._file.seek(self._start or 0)
        self.begin()

    def close(self) -> None:
        """Let go of what was kept; the file itself is whose it was."""
        if self._kept is not None:
            self._kept.close()


class _Raw:
    """The compressed bytes, as `gzip` asks for them."""

    def __init__(self, file: File) -> None:
        self.read = file.take


def _inflating(raw: Any) -> tuple[Any, tuple[type[Exception], ...]]:
    """What inflates compressed bytes, and what it raises where they are damaged."""
    import gzip  # imported where it is needed, for it takes long
    import zlib

    return gzip.GzipFile(mode="rb", fileobj=raw), (EOFError, zlib.error, gzip.BadGzipFile)


def _storage() -> Any:
    """Room for a copy of what cannot be read twice."""
    import tempfile

    return tempfile.SpooledTemporaryFile(KEPT)  # closed by its File


def _seekable(file: BinaryIO) -> bool:
    return bool(getattr(file, "seekable", lambda: False)())


def _size(file: Any) -> int | None:
    """How many bytes a file of the system holds at least; what others hold is not what they say their file is long."""
    raw = file.raw if isinstance(file, io.BufferedReader) else file
    if not isinstance(raw, io.FileIO) or not raw.seekable():
        return None
    return os.fstat(raw.fileno()).st_size - int(file.tell())


@contextmanager
def opened(source: Source, argument: str) -> Iterator[File]:
    """The file of a path, of standard input or of the caller, who closes his own."""
    with ExitStack() as stack:
        file: Any = source
        name: Any = None
        if _is_standard_input(source):
            if not hasattr(sys.stdin, "buffer"):
                raise ValueError(f"{argument} is to be standard input, which cannot be read as bytes here: give a path")
            file, name = sys.stdin.buffer, "standard input"
        elif isinstance(source, (str, os.PathLike)):
            file, name = stack.enter_context(open(source, "rb", buffering=0)), os.fsdecode(source)
        elif hasattr(source, "read"):  # the name may be a number, or empty
            name = getattr(source, "name", None)
        else:
            raise TypeError(f"{argument} must be a path, '-' or an open binary file, not {type(source).__name__}")
        found = stack.enter_context(closing(File(file, name if name and isinstance(name, str) else argument)))
        found.begin()
        yield found


# lines


class _Form(NamedTuple):
    """What the lines of a file hold."""

    scan: str
    fields: str


_QRELS = _Form("scan_qrels", "4 fields (query, iteration, document, grade)")
_RUN = _Form("scan_run", "6 fields (query, Q0, document, rank, score, tag)")


class Block:
    """Whole lines of a file, looked through: where documents stand, their values, and the runs of rows of a query."""

    def __init__(self, data: bytes | memoryview, line: int, form: _Form, name: str) -> None:
        self.bytes = np.frombuffer(data, dtype=np.uint8)
        self._line = line  # how many lines come before
        self._name = name
        most = int(np.count_nonzero(self.bytes == ord("\n"))) + 1  # in a fifth of the time of bytes.count
        self.starts, self.ends = np.empty(most, dtype=np.int64), np.empty(most, dtype=np.int64)
        self.values = np.empty(most)
        runs, totals = np.empty(5 * most, dtype=np.int64), np.empty(3, dtype=np.int64)
        fault = getattr(_backend.lines, form.scan)(self.bytes, self.starts, self.ends, self.values, runs, totals)
        if fault is not None:
            raise self._refusal(fault, form)
        self.rows, count, _ = totals.tolist()
        self.starts, self.ends, self.values = self.starts[: self.rows], self.ends[: self.rows], self.values[: self.rows]
        self.runs = runs[: 5 * count].reshape(-1, 5)

    def drop_last_run(self) -> None:
        self.rows = int(self.runs[-1, 0])
        self.runs = self.runs[:-1]

    def groups(self) -> Groups:
        queries = TextIds(self.bytes, self.runs[:, 1], self.runs[:, 2], "str")
        return Groups.of(queries, self.runs[:, 0], self.rows)

    def table(self, groups: Groups) -> Table:
        return Table(self._name, groups, TextIds(self.bytes, self.starts, self.ends, "str"), self.values, whole=True)

    def _refusal(self, fault: tuple[int, int, int], form: _Form) -> Exception:
        """What a scan found wrong; it counts lines and fields from 0, people from 1."""
        code, line, field = fault
        where = f"{self._name}: line {self._line + line + 1}"
        if code == _codes.FEW_FIELDS:
            return refusal(code, where, f"{field} fields, and there must be {form.fields}")
        text = decoded(self.bytes.tobytes().split(b"\n", line + 1)[line].split()[field])
        return refusal(code, f"{where}, field {field + 1}", repr(text))

    def repeated(self, rows: Rows, place: int) -> Exception:
        """The refusal of the document at a place among rows."""
        row = place + rows.start if isinstance(rows, slice) else int(rows[place])
        data = self.bytes.tobytes()
        line = self._line + data.count(b"\n", 0, int(self.starts[row])) + 1
        document = decoded(data[self.starts[row] : self.ends[row]])
        where, detail = f"{self._name}: line {line}, field 3", f"{document!r} stands in an earlier line"
        return refusal(_codes.DUPLICATE, where, detail)


class _Apart(Exception):
    """A query comes again in a later block: its lines do not stand together."""


def _blocks(file: File) -> Iterator[tuple[Block, Groups]]:
    """Blocks of a run that hold all lines of each of their queries."""
    held, line, seen = b"", 0, set[Any]()
    while True:
        more = file.read(max(BLOCK, len(held)))
        data = held + more
        end = data.rfind(b"\n") + 1 if more else len(data)
        block = Block(memoryview(data)[:end], line, _RUN, file.name)
        if more and len(block.runs) > 1:  # what may go on in the next block waits for it
            _, _, _, at, before = block.runs[-1].tolist()
            block.drop_last_run()
            held = data[at:]
        elif more:
            held = data
            continue
        groups = block.groups()
        if not seen.isdisjoint(groups.names):
            raise _Apart
        seen.update(groups.names)
        yield block, groups
        if not more:
            return
        line += before


# places


class Places:
    """What is kept of a run: the hits of each judged query with their ranks, and how many documents it returned."""

    def __init__(self, truth: Judgments) -> None:
        self._truth = truth
        self._numbers = {query: number for number, query in enumerate(truth.query_ids)}
        self.queries: dict[Any, None] = {}
        self.returned = np.zeros(len(truth), dtype=np.int64)
        self._held: list[Ints] = []  # numbers of judged queries, and how many hits each has
        self._sizes: list[Ints] = []
        self._hits: list[tuple[Floats, Ints, Ints]] = []

    def add(self, block: Block, groups: Groups, ties: int) -> None:
        """Place the documents of queries that are whole."""
        table = block.table(groups)
        table.check_ids(self._truth)
        self.queries.update(dict.fromkeys(groups.names))
        numbers = np.array([self._numbers.get(name, -1) for name in groups.names], dtype=np.int64)
        for start, stop in chunks(groups.lasts - groups.firsts, CHUNK):
            queries, own = np.arange(start, stop), numbers[start:stop]
            rows, offsets = self._truth.rows(own)
            keys, grades = self._truth.ids.take(rows), self._truth.grades[rows]
            hits, fault = table.hits(queries, keys, offsets, grades, EVERYTHING, ties)
            if fault is not None:
                rows, offsets = groups.rows(queries)
                raise block.repeated(rows, int(offsets[fault[1]]) + fault[2])
            count = int(hits.offsets[-1])
            self._hits.append((hits.grade[:count].copy(), hits.first[:count].copy(), hits.last[:count].copy()))
            judged = own >= 0
            self.returned[own[judged]] = groups.sizes(queries)[judged]
            self._held.append(own[judged])
            self._sizes.append(np.diff(hits.offsets)[judged])

    def finish(self) -> None:
        """Find the hits of each query again."""
        none = np.empty(0, dtype=np.int64)
        ends = np.cumsum(np.concatenate([none, *self._sizes]))
        held = np.concatenate([none, *self._held])
        self.firsts, self.lasts = np.zeros_like(self.returned), np.zeros_like(self.returned)
        self.firsts[held], self.lasts[held] = np.append(0, ends[:-1])[: len(held)], ends
        self.grade, self.first, self.last = (
            np.concatenate([np.empty(0, dtype), *(hit[part] for hit in self._hits)])
            for part, dtype in enumerate((np.float64, np.int64, np.int64))
        )


def _place(file: File, truth: Judgments, ties: int) -> Places:
    places = Places(truth)
    try:
        for block, groups in _blocks(file):
            places.add(block, groups, ties)
    except _Apart:
        file.again()
        places, block = Places(truth), Block(file.whole(), 0, _RUN, file.name)
        places.add(block, block.groups(), ties)
    places.finish()
    return places


class Placed(Judged):
    """A run that was read once, of which the places of its hits are known."""

    def __init__(
        self,
        truth: Judgments,
        name: str,
        places: Places,
        *,
        ties: str,
        missing: str,
        query_ids: Iterable[Hashable] | None,
    ) -> None:
        super().__init__(truth, name, places.queries, ties=ties, missing=missing, query_ids=query_ids)
        self._places = places

    def returned(self, start: int, stop: int) -> Ints:
        return self._places.returned[self._queries[start:stop]]

    def hits(
        self, start: int, stop: int, rows: Rows, offsets: Ints, grades: Floats, needs: Needs
    ) -> tuple[Hits, Fault]:
        queries = self._queries[start:stop]
        held, own = stretches(self._places.firsts[queries], self._places.lasts[queries])
        hits = Hits(stop - start, 0)
        hits.grade, hits.first, hits.last = self._places.grade[held], self._places.first[held], self._places.last[held]
        seen = (hits.first <= needs.depth) & ((hits.grade > 0.0) | needs.zeros)
        hits.grade, hits.first, hits.last = hits.grade[seen], hits.first[seen], hits.last[seen]
        hits.offsets = np.append(0, np.cumsum(seen))[own]
        return hits, None

    def run_refusal(self, query: int, offence: Offence) -> Exception:
        return refusal(offence.code, f"{self._run_name}: {self.query_name(query)}", offence.detail)
