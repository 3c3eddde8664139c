"""TREC files as the engine walks over them.

Qrels are read whole. A run is read in blocks, and of each query only its hits are kept, so memory does not grow with
the file as long as the lines of a query are together; if they are not, the file is read once or twice more, and
8 bytes per line are kept.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from rankgain import _backend, _codes
from rankgain.choices import Duplicates, Missing, Ties
from rankgain.data import files
from rankgain.data.columns import RunColumns, check_kinds, first_of_each
from rankgain.data.documents import Documents, of_ids
from rankgain.data.files import File, FileInput, is_msmarco, is_standard_input, opened
from rankgain.data.groups import NumberedIds, QueryRows
from rankgain.data.ids import NONE, Keys, TextIds, decoded, python_ids, row_numbers, slices_of
from rankgain.data.judgments import JudgmentSets, JudgmentSource
from rankgain.data.no_hits import NamedSide, warn_of_other_ids
from rankgain.data.ragged import offsets_of, to_float64
from rankgain.data.rules import TIES, Rules
from rankgain.data.source import Chunk
from rankgain.errors import InputError, quoted, refusal
from rankgain.scalars import Floats, Ints
from rankgain.threads import begun

LINE = 1 << 20  # bytes of a line beyond which only what is needed is kept, and the longest id
HELD = 4  # blocks that are processed as one if the lines of a query are scattered over so many


class Form(NamedTuple):
    """The fields of the lines of a file. The first is the query."""

    fields: str
    document: int  # which field it is, from 0, …
    value: int  # … and which the number
    grades: bool = False  # whether the numbers are grades
    ranks: bool = False  # … or ranks

    @property
    def read(self) -> tuple[int, int, int]:
        return 0, self.document, self.value

    @property
    def wanted(self) -> int:
        """How many fields."""
        return self.fields.count(",") + 1

    @property
    def shortest(self) -> int:
        """How many bytes a line has at least."""
        return 2 * self.wanted

    @property
    def swapped(self) -> int:
        """How many fields a line has if a file of the other kind was given in its place."""
        return RUN.wanted if self.grades else QRELS.wanted


QRELS = Form("query, iteration, document, grade", 2, 3, grades=True)
RUN = Form("query, Q0, document, rank, score, tag", 2, 4)
BEIR_QRELS = Form("query-id, corpus-id, score", 1, 2, grades=True)
MSMARCO_RUN = Form("query, document, rank", 1, 2, ranks=True)


class Block:
    """Whole lines of a file, scanned: the positions of documents, their values, and the runs of rows of a query."""

    def __init__(
        self, data: bytes | bytearray | memoryview, line: int, form: Form, name: str, arrays: BlockBuffers | None = None
    ) -> None:
        self.bytes = np.frombuffer(data, dtype=np.uint8)
        self.size = len(data)
        self.first = 0  # how many rows come before, …
        self._line = line  # … and how many lines
        self.name = name
        self._form = form
        starts, ends, values, hashes, runs, totals = (arrays or BlockBuffers()).of(len(data) // form.shortest + 1)
        block, fields = (self.bytes, starts, ends, values, hashes, runs), (form.wanted, form.document, form.value)
        error_code = _backend.lines.scan(block, totals, *fields, form.grades)
        if error_code is not None:
            raise self._refusal(*error_code)
        rows, count, self.lines = totals.tolist()
        self.starts, self.ends, self.values, self._hashes = starts[:rows], ends[:rows], values[:rows], hashes[:rows]
        self.runs = runs[: 5 * count].reshape(-1, 5)
        if form.ranks:
            self._negate_ranks()
        if self.size > LINE:
            self._check_lengths()
        self.numbers: Ints | None = None  # of the queries of the runs, as soon as these are numbered

    def drop_last_run(self) -> None:
        """Leave it to another block."""
        row, _, _, self.size, self.lines = self.runs[-1].tolist()
        self.starts, self.ends, self.values = self.starts[:row], self.ends[:row], self.values[:row]
        self.runs = self.runs[:-1]

    def drop_repeated(self) -> None:
        """Leave out repeated documents of a query, except in the first row with the highest score."""
        groups = self.groups()
        rows, offsets = groups.rows(np.arange(len(groups)))
        self._hashes = self._hashes[: len(self.starts)]
        hashes = Keys(np.ascontiguousarray(self._hashes[rows]), NONE, NONE)
        if _backend.columns.repeated(*hashes.buffers(), offsets) is None:
            return
        kept = first_of_each(groups, TextIds(self.bytes, self.starts, self.ends, "str"), self.values)
        mask = np.zeros(len(self.starts), np.bool_)
        mask[kept.rows(np.arange(len(kept)))[0]] = True
        self.starts, self.ends, self._hashes = self.starts[mask], self.ends[mask], self._hashes[mask]
        self.values = self.values[mask]
        runs = self.runs.copy()
        runs[:, 0] = offsets_of(mask)[runs[:, 0]]
        self.runs = runs[np.diff(runs[:, 0], append=len(self.starts)) > 0]
        _, firsts = NumberedIds("str").add(self.queries())
        self.runs = self.runs[firsts]  # runs between two of the same query may be gone

    def rows(self, score_bits: int) -> tuple[Any, ...]:
        """What kernels take of it."""
        with np.errstate(over="ignore"):  # what overflows becomes infinite
            values = self.values if score_bits == 64 else to_float64(self.values.astype(np.float32))
        return self.bytes, self.starts, self.ends, values, self._hashes, self.runs.reshape(-1)

    def queries(self) -> Keys:
        """The query of each run of rows, another one than that of the run before."""
        return Keys(self.bytes, *map(np.ascontiguousarray, (self.runs[:, 1], self.runs[:, 2])))

    def groups(self) -> QueryRows:
        return QueryRows.of(TextIds(*self.queries(), "str"), self.runs[:, 0], len(self.starts))

    def rows_of(self, query: int, numbers: Ints) -> Ints:
        """The rows of a query, given the number of the query of each run."""
        sizes = np.diff(self.runs[:, 0], append=len(self.starts))
        return np.flatnonzero(np.repeat(numbers == query, sizes))

    def matching(self, query: bytes) -> Ints:
        """For each run of rows, 1 if it is of this query, else 0."""
        starts, ends = self.runs[:, 1], self.runs[:, 2]
        marks = np.zeros(len(starts), dtype=np.int64)
        for run in np.flatnonzero(ends - starts == len(query)):
            marks[run] = self.bytes[starts[run] : ends[run]].tobytes() == query
        return marks

    def document(self, row: int) -> bytes:
        return self.bytes[self.starts[row] : self.ends[row]].tobytes()

    def _negate_ranks(self) -> None:
        """Make scores of ranks: higher is better."""
        negative = np.flatnonzero(self.values < 0.0)
        if len(negative):
            line = self._lines_before(self.starts[negative[0]])
            raise self._refusal(_codes.NOT_A_NUMBER, line, self._form.value)
        np.negative(self.values, out=self.values)

    def _lines_before(self, position: int) -> int:
        return int(np.count_nonzero(self.bytes[:position] == ord("\n")))

    def _check_lengths(self) -> None:
        """Refuse ids that are too long, wherever blocks begin and end: each contains a multiple of LINE."""
        multiples = np.arange(0, self.size, LINE)
        queries, documents = (self.runs[:, 1], self.runs[:, 2]), (self.starts, self.ends)
        for field, (starts, ends) in zip(self._form.read[:2], (queries, documents), strict=True):
            rows = np.searchsorted(starts, multiples, "right") - 1 if len(starts) else NONE
            long = rows[ends[rows] - starts[rows] > LINE]
            if len(long):
                raise _too_long(self.name, self._line + self._lines_before(starts[long.min()]), field)

    def _refusal(self, code: int, line: int, field: int) -> Exception:
        """The error that a scan found; it counts lines and fields from 0, messages from 1."""
        form = self._form
        where = f"{self.name}: line {self._line + line + 1}"
        if code == _codes.FEW_FIELDS:
            reason = f"expected {form.wanted} fields ({form.fields}), found {field}"
            if field == form.swapped:
                reason += "; are qrels and run swapped?"
            elif form is QRELS and field == form.wanted + 1:
                reason += (
                    "; prels, which sample the pool (query, document, grade, method, probability), are not supported"
                )
            elif field == 2 * form.wanted - 1:  # the last field of a line and the first of the next are one
                reason += "; if files were joined here, the first lacked the newline at its end"
            elif field == 1 and b"," in self.bytes.tobytes().split(b"\n", line + 1)[line]:
                reason += "; CSV files with a header are read by rankgain.from_frames and rankgain.evaluate"
            return refusal(code, where, reason)
        text = decoded(self.bytes.tobytes().split(b"\n", line + 1)[line].split()[field])
        return refusal(code, f"{where}, field {field + 1}", quoted(text))

    def repeated(self, row: int) -> Exception:
        """The error for the document of a row, which is in an earlier row as well."""
        line = self._line + self._lines_before(self.starts[row]) + 1
        where = f"{self.name}: line {line}, field {self._form.document + 1}"
        detail = f"{quoted(decoded(self.document(row)))} stands in an earlier line"
        if not self._form.grades:
            return refusal(_codes.DUPLICATE, where, detail)
        error = refusal(_codes.DUPLICATE | _codes.IN_JUDGED, where, detail)
        fields = self.bytes.tobytes().split(b"\n", line - self._line)[line - self._line - 1].split()
        if self._form is QRELS and fields[1] != b"0":
            return ValueError(f"{error}; if field 2 is a subtopic, as in qrels of ndeval, keep one grade per document")
        return error


class BlockBuffers:
    """The buffers that blocks fill, one after another."""

    def __init__(self) -> None:
        self._most = 0

    def of(self, rows: int) -> tuple[Ints, Ints, Floats, Ints, Ints, Ints]:
        """Starts and ends of documents, values, hashes, runs of rows and totals: for so many rows."""
        if rows > self._most:
            self._most = rows
            self._starts, self._ends, self._hashes = (np.empty(rows, dtype=np.int64) for _ in range(3))
            self._values, self._runs = np.empty(rows), np.empty(5 * rows, dtype=np.int64)
            self._totals = np.empty(3, dtype=np.int64)
        return self._starts, self._ends, self._values, self._hashes, self._runs, self._totals


def _too_long(name: str, line: int, field: int) -> ValueError:
    """The refusal of a field; lines and fields are counted from 0."""
    return ValueError(
        f"{name}: line {line + 1}, field {field + 1}: the field has more than {LINE} bytes; give shorter ids"
    )


_WHITE_SPACE = b" \t\n\r\v\f"


def _shortened(begun: bytes, form: Form, before: bytes, line: int, name: str) -> tuple[bytes, bytes]:
    """What to keep of the beginning of a long line, and the bytes up to which the rest of it can be skipped.

    One letter of a comment and of each unused field; one more field if there are too many.
    Errors in the lines before it, the first of which is `line`, are reported before a field that is too long.
    """
    fields = begun.split(None, form.wanted)
    going_on = not begun[-1:].isspace()
    if fields and fields[0].startswith(b"#"):
        return b"#", b"\n"
    if len(fields) > form.wanted:
        return b" ".join([*fields[: form.wanted], b"more"]), b"\n"
    for index, field in enumerate(fields):
        if index not in form.read:
            fields[index] = b"x"
        elif len(field) > LINE:
            raise _too_long(name, line + Block(before, line, form, name).lines, index)
    unread = going_on and fields and len(fields) - 1 not in form.read
    return b" ".join(fields) + (b"" if going_on else b" "), _WHITE_SPACE if unread else b""


def whole_text(file: File, form: Form) -> bytearray:
    """All of the text, with long lines shortened."""
    text = bytearray()  # grown in place: joined parts would take twice the memory
    while data := file.read(files.BLOCK):
        text += data
        end = text.rfind(b"\n") + 1
        if len(text) - end > LINE:
            kept, stops = _shortened(bytes(text[end:]), form, bytes(text[:end]), 0, file.name)
            text[end:] = kept
            file.pass_over(stops)
    return text


class _Apart(Exception):
    """The lines of a query are scattered, or too many to keep in memory."""


def _blocks(file: File, form: Form, *, together: bool, threads: int) -> Iterator[Block]:
    """Blocks of a run; `together`: they hold all lines of each of their queries. One ends the one before it.

    With threads, a block is scanned while the one before it is processed. Blocks are read by the calling thread, which
    Ctrl-C can interrupt while it waits for a pipe.
    """
    ahead = threads > 1
    buffers, arrays = [bytearray(files.BLOCK) for _ in range(1 + ahead)], [BlockBuffers() for _ in range(1 + ahead)]
    pending: Block | None = None  # what comes before the block that is being scanned
    have = line = rows = 0
    while True:
        if 2 * have > (size := len(buffers[0])):
            # not grown in place: blocks hold on to these
            buffers = [own + bytes(max(size, HELD * files.BLOCK - size)) for own in buffers]
        buffer = buffers[0]
        try:
            more = file.fill(memoryview(buffer)[have:])
            have += more
            end = buffer.rfind(b"\n", 0, have) + 1 if more else have
            if have - end > LINE:
                kept, stops = _shortened(bytes(buffer[end:have]), form, bytes(buffer[:end]), line, file.name)
                have = end + len(kept)
                buffer[end:have] = kept
                file.pass_over(stops)
        except Exception:
            if pending is not None:  # its errors come first
                yield pending
            raise
        scanned = begun(partial(Block, memoryview(buffer)[:end], line, form, file.name, arrays[0]), threads)
        if pending is not None:
            yield pending
            pending = None
        block = scanned()
        if more and together:  # the last query may go on in the next block
            scattered = 2 * len(block.runs) > len(block.starts)
            if have < HELD * files.BLOCK and (scattered or len(block.runs) < 2):
                continue
            if len(block.runs) < 2:
                raise _Apart
            block.drop_last_run()
        block.first = rows
        if more and ahead:
            pending = block
        else:
            yield block
        if not more:
            return
        line += block.lines
        rows += len(block.starts)
        have -= block.size
        buffers.reverse()
        arrays.reverse()
        buffers[0][:have] = buffer[block.size : block.size + have]


# places


class Places:
    """What is kept of a run: the hits of each judged query with their ranks, and how many documents it returned.

    That takes two steps, for all judged documents of a query must be found before others can be counted above them.
    """

    def __init__(self, judgments: JudgmentSets, name: str, ties: int, score_bits: int) -> None:
        queries, judged = len(judgments), len(judgments.grades)
        self.queries = NumberedIds("str")
        self.returned = np.zeros(queries, dtype=np.int64)
        self._judgments = judgments
        self._name = name
        self._numbers = {query: number for number, query in enumerate(judgments.query_ids)}
        self.score_bits = score_bits
        self._resolved = ties in (_codes.DOCID, _codes.STABLE)
        self._hit_counts = np.full(queries, -2)
        self._hits = np.empty(judged, dtype=np.int64)
        self._above, self._equals = np.zeros(judged + queries, dtype=np.int64), np.zeros(judged, dtype=np.int64)
        self._lists = (
            *judgments.ids.take(slice(None)),
            judgments.offsets,
            judgments.grades,
            np.zeros(4 * judged, dtype=np.int64),
            np.full(judged, np.nan),
            np.empty(judged, dtype=np.int64),
            self._hit_counts,
            self._hits,
            np.empty(judged),
            self._above,
            self._equals,
            ties,
        )

    def add(self, blocks: Callable[[], Iterable[Block]]) -> None:
        """Place the documents of blocks that hold whole queries and can be read several times."""
        known = len(self.queries.names)
        judged_of, sizes = np.empty(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
        for block in blocks():
            numbers = self._query_numbers(block) - known
            if numbers.min(initial=0) < 0:
                raise _Apart
            if len(block.starts):
                check_kinds(self._judgments, self._name, "str")
            news = self.queries.names[known + len(judged_of) :]
            judged_of = np.append(judged_of, np.array([self._numbers.get(name, -1) for name in news], dtype=np.int64))
            if len(judged_of) > len(sizes):
                sizes = np.append(sizes, np.zeros(len(judged_of), dtype=np.int64))
            _backend.lines.match_lines(self._rows(block), numbers, block.first, judged_of, sizes, self._lists)
        offsets = offsets_of(sizes[: len(judged_of)])
        places, hashes = offsets[:-1].copy(), np.empty(offsets[-1], dtype=np.int64)
        for block in blocks():
            numbers = self._query_numbers(block) - known
            fits = numbers.max(initial=-1) < len(places) and _backend.lines.count_lines(
                self._rows(block), numbers, block.first, judged_of, places, hashes, self._lists
            )
            if not fits:
                raise self._changed()
        if not np.array_equal(places, offsets[1:]):
            raise self._changed()
        self._check_repeated(blocks, known, hashes, offsets)
        judged = judged_of >= 0
        self.returned[judged_of[judged]] = np.diff(offsets)[judged]

    def _query_numbers(self, block: Block) -> Ints:
        """The number of the query of each run of rows."""
        if block.numbers is None:
            block.numbers, _ = self.queries.add(block.queries())
        return block.numbers

    def _rows(self, block: Block) -> tuple[Any, ...]:
        return block.rows(self.score_bits)

    def _changed(self) -> Exception:
        return ValueError(f"{self._name} was changed while it was read")

    def _check_repeated(self, blocks: Callable[[], Iterable[Block]], known: int, hashes: Ints, offsets: Ints) -> None:
        """Refuse a document that stands in a query twice."""
        query = 0
        keys = Keys(hashes, NONE, NONE)
        while (found := _backend.columns.repeated(*keys.buffers(), offsets[query:])) is not None:
            query += found[1] + 1
            seen = set[bytes]()
            for block in blocks():
                for row in block.rows_of(known + query - 1, self._query_numbers(block)):
                    if (document := block.document(row)) in seen:
                        raise block.repeated(row)
                    seen.add(document)

    def finish(self) -> Places:
        """The first and the last rank of each hit, from the documents that were counted before it."""
        offsets = self._judgments.offsets
        places, self.offsets = slices_of(offsets[:-1], offsets[:-1] + np.maximum(self._hit_counts, 0))
        places = row_numbers(places)
        query = np.repeat(np.arange(len(self._judgments)), np.diff(self.offsets))
        above, equals = offsets_of(self._above), offsets_of(self._equals)
        before = above[places + query + 1] - above[offsets[query] + query] - equals[offsets[query]]
        group = np.maximum.accumulate(np.where((self._equals[places] > 0) | self._resolved, places, 0))
        self.grade = self._judgments.grades[self._hits[places]]
        self.first = before + equals[group] + 1
        self.last = np.maximum(before + equals[places + 1], self.first)
        return self


def place(
    file: File, judgments: JudgmentSets, ties: int, score_bits: int, threads: int = 1, form: Form = RUN
) -> Places:
    """The hits of a run in which no document of a query repeats."""
    places = _place(file, judgments, ties, score_bits, threads, form, duplicates="error")
    assert isinstance(places, Places)
    return places


def _place(
    file: File,
    judgments: JudgmentSets,
    ties: int,
    score_bits: int,
    threads: int,
    form: Form,
    *,
    duplicates: Duplicates,
) -> Places | RunColumns:
    """The hits of a run; all of it in columns, if repeated documents may stand in different blocks."""
    places = Places(judgments, file.name, ties, score_bits)
    try:
        for block in _blocks(file, form, together=True, threads=threads):
            if duplicates == "first":
                block.drop_repeated()
            places.add(partial(iter, [block]))
    except _Apart:
        places = Places(judgments, file.name, ties, score_bits)
    else:
        return places.finish()
    # Not in the handler, which holds on to the last block.
    if duplicates == "first":
        return _table(file.again(), form)
    places.add(lambda: _blocks(file.again(), form, together=False, threads=threads))
    return places.finish()


def first_rows(ids: Sequence[Any], scores: Sequence[float]) -> list[int]:
    """The first row with the highest score of each id."""
    rows: dict[Any, int] = {}
    for row, identifier in enumerate(ids):
        if scores[row] > scores[rows.setdefault(identifier, row)]:
            rows[identifier] = row
    return sorted(rows.values())


_APART = ("docid", "stable")  # policies that give each document a place of its own


def _asked(rules: Rules) -> tuple[str | bool, int]:
    """What places are found by, of the rules."""
    return rules.ties in _APART and str(rules.ties), rules.score_bits


def read_run(
    run: FileInput,
    judgments: JudgmentSets,
    ties: Ties,
    score_bits: int,
    threads: int = 1,
    *,
    duplicates: Duplicates = "error",
) -> tuple[str, Places | RunColumns]:
    """The name of a run, and its hits; or all of it, if its documents repeat and its lines are scattered."""
    with opened(run, "run") as file:
        form = _form(file)
        return file.name, _place(file, judgments, TIES[ties], score_bits, threads, form, duplicates=duplicates)


def warn_of_first_block(path: str, judgments: JudgmentSets) -> None:
    """Warn if the ids of a run without judged documents seem to be different from those of its judgments."""
    with opened(path, "run") as file:
        name = file.name
        block = next(_blocks(file, _form(file), together=False, threads=1))
    groups, documents = block.groups(), TextIds(block.bytes, block.starts, block.ends, "str")
    numbers = groups.find(judgments.query_ids)
    in_block = np.flatnonzero(numbers >= 0).tolist()

    def documents_of(query: int) -> list[Any]:
        rows, _ = groups.rows(numbers[in_block[query] : in_block[query] + 1])
        return python_ids(documents.take(rows), "str")

    judged = NamedSide(judgments.name, lambda query: list(judgments.of_query(in_block[query])))
    warn_of_other_ids(judged, NamedSide(name, documents_of), len(in_block))


def _form(run: File) -> Form:
    run.check_format()
    return MSMARCO_RUN if is_msmarco(run) else RUN


def _table(file: File, form: Form) -> RunColumns:
    """A run as columns, all of it; repeated documents count once."""
    block = Block(whole_text(file, form), 0, form, file.name)
    groups, values = block.groups(), block.values
    documents = TextIds(block.bytes, block.starts, block.ends, "str")
    del block  # its hashes and runs take more memory than these
    return RunColumns(file.name, groups, documents, values, duplicates="first")


class FileStamp(NamedTuple):
    """A file that can be read again, as it was found."""

    path: str
    size: int
    changed: int


def stamp_of(source: FileInput) -> FileStamp | None:
    """None if it is not a regular file, which may be read only once."""
    if is_standard_input(source) or not isinstance(source, (str, os.PathLike)):
        return None
    path = os.path.abspath(os.fsdecode(source))
    try:
        status = os.stat(path)
    except (OSError, ValueError):  # reading it gives a better message
        return None
    return FileStamp(path, status.st_size, status.st_mtime_ns) if stat.S_ISREG(status.st_mode) else None


class TrecSource(JudgmentSource):
    """A run that was read under some rules, with the ranks of its hits."""

    in_file = True

    def __init__(
        self,
        judgments: JudgmentSets,
        name: str,
        places: Places,
        found: FileStamp | None,
        rules: Rules,
        *,
        missing: Missing,
        query_ids: Iterable[Hashable] | None,
        duplicates: Duplicates = "error",
    ) -> None:
        common = np.flatnonzero(places.returned)
        super().__init__(judgments, name, places.queries.names, common, missing, query_ids)
        self._places = places
        self._file = found
        self._rules = rules
        self._duplicates = duplicates

    def under_missing(self, missing: Missing) -> TrecSource:
        return self._with(self._places, self._rules, missing, self._names_under(missing))

    def _with(self, places: Places, rules: Rules, missing: Missing, names: Iterable[Hashable] | None) -> TrecSource:
        return TrecSource(
            self._judgments,
            self._run_name,
            places,
            self._file,
            rules,
            missing=missing,
            query_ids=names,
            duplicates=self._duplicates,
        )

    def under(self, rules: Rules) -> TrecSource:
        if _asked(rules) == _asked(self._rules):
            return self
        path, ties = self._unchanged().path, rules.ties or "docid"
        _, places = read_run(path, self._judgments, ties, rules.score_bits, duplicates=self._duplicates)
        assert isinstance(places, Places)
        assert self.missing is not None
        return self._with(places, rules, self.missing, self.query_ids if self._named else None)

    @property
    def sizes(self) -> Ints:
        returned = self._places.returned
        return returned if self._numbers is None else returned[self._numbers]

    def chunk(self, start: int, stop: int) -> Chunk:
        places, numbers = self._places, self._numbers_of(start, stop)
        rows, offsets = slices_of(places.offsets[numbers], places.offsets[numbers + 1])
        _, judged_offsets, grades = self.judged(start, stop)
        hits = places.grade[rows], places.first[rows], places.last[rows], places.returned[numbers]
        return _codes.HITS, 0, stop - start, offsets, *hits, judged_offsets, grades

    def documents(self, query: int, rules: Rules) -> Documents | None:
        """Read from the file again; None if that is impossible."""
        if self._file is None:
            return None
        judged = self._judgments.of_query(self._number(query))
        name = str(self._judgments.query_ids[self._number(query)]).encode("utf-8", "surrogateescape")
        ids: list[bytes] = []
        scores: list[float] = []
        with opened(self._unchanged().path, "run") as file:
            for block in _blocks(file, _form(file), together=False, threads=1):
                for row in block.rows_of(1, block.matching(name)).tolist():
                    ids.append(block.document(row))
                    scores.append(float(block.values[row]))
        if self._duplicates == "first":
            rows = first_rows(ids, scores)
            ids, scores = [ids[row] for row in rows], [scores[row] for row in rows]
        return of_ids(rules, list(map(decoded, ids)), scores, judged, ids)

    def _unchanged(self) -> FileStamp:
        """The file, which must be as it was when it was read first."""
        if self._file is None:
            raise ValueError(
                f"{self._run_name} cannot be read again, which other rules for ties or scores need: give the path "
                "of a file, or read it by those rules from the beginning"
            )
        if stamp_of(self._file.path) != self._file:
            raise ValueError(f"{self._run_name} was changed after it was read: read it again")
        return self._file

    def run_refusal(self, query: int, error: InputError) -> Exception:
        return refusal(error.code, f"{self._run_name}: {self.query_name(query)}", error.detail)
