"""Read TREC files: qrels, and runs, which are ranked while the file is read.

Qrels are read as a whole. A run is read in blocks, and only the hits of each query are stored. Memory use therefore
does not grow with the file if the lines of each query are contiguous. If they are not, the file is read once or twice
more, and 8 bytes are stored for each line.
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
from rankgain.errors import BY_SUBTOPIC, InputError, quoted, refusal
from rankgain.scalars import Floats, Ints, to_intp
from rankgain.threads import begun

LINE = 1 << 20  # maximum number of bytes in an id; of longer lines, only the fields that are used are copied
MOST_BLOCKS = 4  # maximum number of blocks to merge for a query whose lines extend over several blocks


class Form(NamedTuple):
    """The layout of a line. The first field is always the query."""

    fields: str  # the names of the fields, in order
    document: int  # index of the document field, from 0
    value: int  # index of the field with the grade, score or rank, from 0
    grades: bool = False  # whether the value is a grade
    ranks: bool = False  # whether the value is a rank

    @property
    def read(self) -> tuple[int, int, int]:
        """The indices of the fields that are used."""
        return 0, self.document, self.value

    @property
    def n_fields(self) -> int:
        """The number of fields in a line."""
        return self.fields.count(",") + 1

    @property
    def min_bytes(self) -> int:
        """The length of the shortest valid line in bytes."""
        return 2 * self.n_fields

    @property
    def n_fields_if_swapped(self) -> int:
        """The number of fields in a line if qrels and run have been swapped."""
        return RUN.n_fields if self.grades else QRELS.n_fields


QRELS = Form("query, iteration, document, grade", 2, 3, grades=True)
RUN = Form("query, Q0, document, rank, score, tag", 2, 4)
QRELS_BY_SUBTOPIC = Form("query, subtopic, document, grade", 2, 3, grades=True)
BEIR_QRELS = Form("query-id, corpus-id, score", 1, 2, grades=True)
MSMARCO_RUN = Form("query, document, rank", 1, 2, ranks=True)


class Block:
    """Scanned lines of a file: the bounds and value of each document, and the runs of rows with the same query."""

    def __init__(
        self, data: bytes | bytearray | memoryview, line: int, form: Form, name: str, arrays: BlockBuffers | None = None
    ) -> None:
        self.bytes = np.frombuffer(data, dtype=np.uint8)
        self.size = len(data)
        self.first = 0  # number of rows in earlier blocks
        self._line = line  # number of lines before the block
        self.name = name
        self._form = form
        starts, ends, values, hashes, runs, totals = (arrays or BlockBuffers()).of(len(data) // form.min_bytes + 1)
        block, fields = (self.bytes, starts, ends, values, hashes, runs), (form.n_fields, form.document, form.value)
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
        self.numbers: Ints | None = None  # the query number of each run of rows, set by `RunHits`

    def drop_last_run(self) -> None:
        """Remove the last run of rows from this block, because the next block reads it again."""
        row, _, _, self.size, self.lines = self.runs[-1].tolist()
        self.starts, self.ends, self.values = self.starts[:row], self.ends[:row], self.values[:row]
        self.runs = self.runs[:-1]

    def drop_repeated(self) -> None:
        """Drop repeated documents of each query, and keep the first row with the document's highest score."""
        groups = self.groups()
        rows, offsets = groups.rows(np.arange(len(groups)))
        self._hashes = self._hashes[: len(self.starts)]
        hashes = Keys(np.ascontiguousarray(self._hashes[rows]), NONE, NONE)
        if _backend.columns.repeated(*hashes.buffers(), offsets) is None:
            return
        unique = first_of_each(groups, TextIds(self.bytes, self.starts, self.ends, "str"), self.values)
        mask = np.zeros(len(self.starts), np.bool_)
        mask[unique.rows(np.arange(len(unique)))[0]] = True
        self.starts, self.ends, self._hashes = self.starts[mask], self.ends[mask], self._hashes[mask]
        self.values = self.values[mask]
        runs = self.runs.copy()
        runs[:, 0] = offsets_of(mask)[runs[:, 0]]
        self.runs = runs[np.diff(runs[:, 0], append=len(self.starts)) > 0]
        _, firsts = NumberedIds("str").add(self.queries())
        self.runs = self.runs[firsts]  # merge runs of rows that are now adjacent and have the same query

    def rows(self, score_bits: int) -> tuple[Any, ...]:
        """Return the buffers passed to kernels."""
        with np.errstate(over="ignore"):  # scores too large for float32 become infinite
            values = self.values if score_bits == 64 else to_float64(self.values.astype(np.float32))
        return self.bytes, self.starts, self.ends, values, self._hashes, self.runs.reshape(-1)

    def queries(self) -> Keys:
        """Return the query id of each run of rows. Adjacent runs of rows have different ids."""
        return Keys(self.bytes, *map(np.ascontiguousarray, (self.runs[:, 1], self.runs[:, 2])))

    def groups(self) -> QueryRows:
        return QueryRows.of(TextIds(*self.queries(), "str"), self.runs[:, 0], len(self.starts))

    def rows_of(self, query: int, numbers: Ints) -> Ints:
        """Return the rows of one query. `numbers`: the query number of each run of rows."""
        sizes = np.diff(self.runs[:, 0], append=len(self.starts))
        return np.flatnonzero(np.repeat(numbers == query, to_intp(sizes)))

    def matching(self, query: bytes) -> Ints:
        """Return an array with 1 for each run of rows whose query id is `query`, and 0 for other runs of rows."""
        starts, ends = self.runs[:, 1], self.runs[:, 2]
        marks = np.zeros(len(starts), dtype=np.int64)
        for run in np.flatnonzero(ends - starts == len(query)):
            marks[run] = self.bytes[starts[run] : ends[run]].tobytes() == query
        return marks

    def document(self, row: int) -> bytes:
        return self.bytes[self.starts[row] : self.ends[row]].tobytes()

    def _negate_ranks(self) -> None:
        """Convert ranks to scores, so that higher is better."""
        negative = np.flatnonzero(self.values < 0.0)
        if len(negative):
            line = self._lines_before(self.starts[negative[0]])
            raise self._refusal(_codes.NOT_A_NUMBER, line, self._form.value)
        np.negative(self.values, out=self.values)

    def _lines_before(self, position: int) -> int:
        return int(np.count_nonzero(self.bytes[:position] == ord("\n")))

    def _check_lengths(self) -> None:
        """Refuse ids longer than LINE bytes.

        An id that is too long must extend over a position that is a multiple of LINE, so that only the rows at these
        positions are examined.
        """
        multiples = np.arange(0, self.size, LINE)
        queries, documents = (self.runs[:, 1], self.runs[:, 2]), (self.starts, self.ends)
        for field, (starts, ends) in zip(self._form.read[:2], (queries, documents), strict=True):
            rows = np.searchsorted(starts, multiples, "right") - 1 if len(starts) else NONE
            long = rows[ends[rows] - starts[rows] > LINE]
            if len(long):
                raise _too_long(self.name, self._line + self._lines_before(starts[long.min()]), field)

    def _refusal(self, code: int, line: int, field: int) -> Exception:
        """Return the error for an error code from a scan. Scans count lines and fields from 0, and messages from 1."""
        form = self._form
        where = f"{self.name}: line {self._line + line + 1}"
        if code == _codes.FEW_FIELDS:
            reason = f"expected {form.n_fields} fields ({form.fields}), found {field}"
            if field == form.n_fields_if_swapped:
                reason += "; are qrels and run swapped?"
            elif form is QRELS and field == form.n_fields + 1:
                reason += (
                    "; prels, which sample the pool (query, document, grade, method, probability), are not supported"
                )
            elif field == 2 * form.n_fields - 1:  # two lines may have been joined without a newline
                reason += "; if files were joined here, the first lacked a final newline"
            elif field == 1 and b"," in self.bytes.tobytes().split(b"\n", line + 1)[line]:
                reason += "; CSV files with a header are read by rankgain.from_frames and rankgain.evaluate"
            return refusal(code, where, reason)
        text = decoded(self.bytes.tobytes().split(b"\n", line + 1)[line].split()[field])
        return refusal(code, f"{where}, field {field + 1}", quoted(text))

    def line_of(self, row: int) -> int:
        """Return the number of a row's line in the file, from 1."""
        return self._line + self._lines_before(self.starts[row]) + 1

    def repeated(self, row: int) -> Exception:
        """Return the error for a row whose document already appears in an earlier row of the same query."""
        line = self.line_of(row)
        where = f"{self.name}: line {line}, field {self._form.document + 1}"
        detail = f"{quoted(decoded(self.document(row)))} already appears in an earlier line"
        if not self._form.grades:
            return refusal(_codes.DUPLICATE, where, detail)
        error = refusal(_codes.DUPLICATE | _codes.IN_JUDGED, where, detail)
        fields = self.bytes.tobytes().split(b"\n", line - self._line)[line - self._line - 1].split()
        if self._form is QRELS and fields[1] != b"0":
            return ValueError(f"{error}; if field 2 is a subtopic, write {BY_SUBTOPIC}")
        return error


class BlockBuffers:
    """Buffers for the results of a scan, which successive blocks reuse."""

    def __init__(self) -> None:
        self._capacity = 0

    def of(self, rows: int) -> tuple[Ints, Ints, Floats, Ints, Ints, Ints]:
        """Return buffers for at least `rows` rows.

        They are for the starts and ends of documents, the values, the hashes, the runs of rows, and the totals.
        """
        if rows > self._capacity:
            self._capacity = rows
            self._starts, self._ends, self._hashes = (np.empty(rows, dtype=np.int64) for _ in range(3))
            self._values, self._runs = np.empty(rows), np.empty(5 * rows, dtype=np.int64)
            self._totals = np.empty(3, dtype=np.int64)
        return self._starts, self._ends, self._values, self._hashes, self._runs, self._totals


def _too_long(name: str, line: int, field: int) -> ValueError:
    """Return the error for a field that is too long. `line` and `field` count from 0."""
    return ValueError(
        f"{name}: line {line + 1}, field {field + 1}: the field has more than {LINE} bytes; give shorter ids"
    )


_WHITE_SPACE = b" \t\n\r\v\f"


def _shortened(begun: bytes, form: Form, before: bytes, line: int, name: str) -> tuple[bytes, bytes]:
    """Shorten the beginning of a long line to what the scan needs.

    Also return the bytes at which reading resumes. Comments and unused fields are shortened to one letter. If the line
    has too many fields, one extra field is kept, so that the scan reports the error. `before`: the text before
    this line, whose first line has the number `line`. Errors in this text are raised before the error for a field that
    is too long.
    """
    fields = begun.split(None, form.n_fields)
    continues = not begun[-1:].isspace()
    if fields and fields[0].startswith(b"#"):
        return b"#", b"\n"
    if len(fields) > form.n_fields:
        return b" ".join([*fields[: form.n_fields], b"more"]), b"\n"
    for index, field in enumerate(fields):
        if index not in form.read:
            fields[index] = b"x"
        elif len(field) > LINE:
            raise _too_long(name, line + Block(before, line, form, name).lines, index)
    unread = continues and fields and len(fields) - 1 not in form.read
    return b" ".join(fields) + (b"" if continues else b" "), _WHITE_SPACE if unread else b""


def whole_text(file: File, form: Form) -> bytearray:
    """Return the whole text of a file, with long lines shortened."""
    text = bytearray()  # grows in place, because joining parts would take twice the memory
    while data := file.read(files.BLOCK):
        text += data
        end = text.rfind(b"\n") + 1
        if len(text) - end > LINE:
            shortened, stops = _shortened(bytes(text[end:]), form, bytes(text[:end]), 0, file.name)
            text[end:] = shortened
            file.pass_over(stops)
    return text


class _Scattered(Exception):
    """Raised if the lines of a query are not contiguous or are too many to keep in memory."""


def _blocks(file: File, form: Form, *, together: bool, threads: int) -> Iterator[Block]:
    """Yield the blocks of a run. A block is valid only until the next one is requested, because buffers are reused.

    `together`: whether each block must contain all lines of its queries; `_Scattered` is raised if this is impossible.
    With more than one thread, a block is scanned while the previous one is processed. The calling thread reads the
    file, so that Ctrl-C interrupts reading from a pipe.
    """
    ahead = threads > 1
    buffers, arrays = [bytearray(files.BLOCK) for _ in range(1 + ahead)], [BlockBuffers() for _ in range(1 + ahead)]
    pending: Block | None = None  # the block before the block that is being scanned
    have = line = rows = 0
    while True:
        if 2 * have > (size := len(buffers[0])):
            # Copy the buffers instead of growing them in place, because blocks have views of them.
            buffers = [old + bytes(max(size, MOST_BLOCKS * files.BLOCK - size)) for old in buffers]
        buffer = buffers[0]
        try:
            more = file.fill(memoryview(buffer)[have:])
            have += more
            end = buffer.rfind(b"\n", 0, have) + 1 if more else have
            if have - end > LINE:
                shortened, stops = _shortened(bytes(buffer[end:have]), form, bytes(buffer[:end]), line, file.name)
                have = end + len(shortened)
                buffer[end:have] = shortened
                file.pass_over(stops)
        except Exception:
            if pending is not None:  # errors in earlier lines are reported first
                yield pending
            raise
        scanned = begun(partial(Block, memoryview(buffer)[:end], line, form, file.name, arrays[0]), threads)
        if pending is not None:
            yield pending
            pending = None
        block = scanned()
        if more and together:  # the lines of the last query may continue in the next block
            scattered = 2 * len(block.runs) > len(block.starts)
            if have < MOST_BLOCKS * files.BLOCK and (scattered or len(block.runs) < 2):
                continue
            if len(block.runs) < 2:
                raise _Scattered
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


# Hits


class RunHits:
    """The hits of a run with their ranks, and the number of returned documents, for each judged query.

    Each query takes two passes: the first finds its hits, and the second counts the documents ranked above each hit.
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
        """Add the queries in some blocks, which must contain all lines of these queries.

        `blocks` is called repeatedly and must return the same blocks each time.
        """
        known = len(self.queries.names)
        judged_of, sizes = np.empty(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
        for block in blocks():
            numbers = self._query_numbers(block) - known
            if numbers.min(initial=0) < 0:
                raise _Scattered
            if len(block.starts):
                check_kinds(self._judgments, self._name, "str")
            new_names = self.queries.names[known + len(judged_of) :]
            judged_of = np.append(
                judged_of, np.array([self._numbers.get(name, -1) for name in new_names], dtype=np.int64)
            )
            if len(judged_of) > len(sizes):
                sizes = np.append(sizes, np.zeros(len(judged_of), dtype=np.int64))
            _backend.lines.match_lines(self._rows(block), numbers, block.first, judged_of, sizes, self._lists)
        offsets = offsets_of(sizes[: len(judged_of)])
        next_rows, hashes = offsets[:-1].copy(), np.empty(offsets[-1], dtype=np.int64)
        for block in blocks():
            numbers = self._query_numbers(block) - known
            fits = numbers.max(initial=-1) < len(next_rows) and _backend.lines.count_lines(
                self._rows(block), numbers, block.first, judged_of, next_rows, hashes, self._lists
            )
            if not fits:
                raise self._changed()
        if not np.array_equal(next_rows, offsets[1:]):
            raise self._changed()
        self._check_repeated(blocks, known, hashes, offsets)
        judged = judged_of >= 0
        self.returned[judged_of[judged]] = np.diff(offsets)[judged]

    def _query_numbers(self, block: Block) -> Ints:
        """Return the query number of each run of rows."""
        if block.numbers is None:
            block.numbers, _ = self.queries.add(block.queries())
        return block.numbers

    def _rows(self, block: Block) -> tuple[Any, ...]:
        return block.rows(self.score_bits)

    def _changed(self) -> Exception:
        return ValueError(f"{self._name} was changed while it was read")

    def _check_repeated(self, blocks: Callable[[], Iterable[Block]], known: int, hashes: Ints, offsets: Ints) -> None:
        """Refuse documents that a query returned twice."""
        query = 0
        keys = Keys(hashes, NONE, NONE)
        while (repeated := _backend.columns.repeated(*keys.buffers(), offsets[query:])) is not None:
            query += repeated[1] + 1
            seen = set[bytes]()
            for block in blocks():
                for row in block.rows_of(known + query - 1, self._query_numbers(block)):
                    if (document := block.document(row)) in seen:
                        raise block.repeated(row)
                    seen.add(document)

    def finish(self) -> RunHits:
        """Compute the first and last rank of each hit from the numbers of documents above it and tied with it."""
        offsets = self._judgments.offsets
        rows, self.offsets = slices_of(offsets[:-1], offsets[:-1] + np.maximum(self._hit_counts, 0))
        hits = row_numbers(rows)
        query = np.repeat(np.arange(len(self._judgments)), to_intp(np.diff(self.offsets)))
        above, equals = offsets_of(self._above), offsets_of(self._equals)
        before = above[hits + query + 1] - above[offsets[query] + query] - equals[offsets[query]]
        group = np.maximum.accumulate(np.where((self._equals[hits] > 0) | self._resolved, hits, 0))
        self.rows = self._hits[hits]  # the row of each hit in the judgments
        self.grade = self._judgments.grades[self.rows]
        self.first = before + equals[group] + 1
        self.last = np.maximum(before + equals[hits + 1], self.first)
        return self


def hits_of_run(
    file: File, judgments: JudgmentSets, ties: int, score_bits: int, threads: int = 1, form: Form = RUN
) -> RunHits:
    """Return the hits of a run. A document that a query returned twice is an error."""
    hits = _read_hits(file, judgments, ties, score_bits, threads, form, duplicates="error")
    assert isinstance(hits, RunHits)
    return hits


def _read_hits(
    file: File,
    judgments: JudgmentSets,
    ties: int,
    score_bits: int,
    threads: int,
    form: Form,
    *,
    duplicates: Duplicates,
) -> RunHits | RunColumns:
    """Return the hits of a run, or the whole run in columns if a document may be repeated in another block."""
    hits = RunHits(judgments, file.name, ties, score_bits)
    try:
        for block in _blocks(file, form, together=True, threads=threads):
            if duplicates == "first":
                block.drop_repeated()
            hits.add(partial(iter, [block]))
    except _Scattered:
        hits = RunHits(judgments, file.name, ties, score_bits)
    else:
        return hits.finish()
    # This is outside the except clause, because the exception keeps the last block alive.
    if duplicates == "first":
        return _table(file.again(), form)
    hits.add(lambda: _blocks(file.again(), form, together=False, threads=threads))
    return hits.finish()


def first_rows(ids: Sequence[Any], scores: Sequence[float]) -> list[int]:
    """Return, for each id, the first row with its highest score."""
    rows: dict[Any, int] = {}
    for row, identifier in enumerate(ids):
        if scores[row] > scores[rows.setdefault(identifier, row)]:
            rows[identifier] = row
    return sorted(rows.values())


UNTIED_POLICIES = "docid", "stable"  # tie policies that give each document a different rank


def _ranking_rules(rules: Rules) -> tuple[str | bool, int]:
    """Return the rules on which the ranks of hits depend.

    These are the tie policy, or False if it does not break ties, and the precision of scores.
    """
    return rules.ties in UNTIED_POLICIES and str(rules.ties), rules.score_bits


def read_run(
    run: FileInput,
    judgments: JudgmentSets,
    ties: Ties,
    score_bits: int,
    threads: int = 1,
    *,
    duplicates: Duplicates = "error",
) -> tuple[str, RunHits | RunColumns]:
    """Return the name of a run and its hits.

    Return the whole run instead of its hits if documents may repeat and the lines of a query are not contiguous.
    """
    with opened(run, "run") as file:
        form = _form(file)
        return file.name, _read_hits(file, judgments, TIES[ties], score_bits, threads, form, duplicates=duplicates)


def warn_of_first_block(path: str, judgments: JudgmentSets) -> None:
    """Warn if a run and its judgments seem to use different kinds of ids. Call this if no document is judged."""
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
    """Return the whole run as columns, in which repeated documents count once."""
    block = Block(whole_text(file, form), 0, form, file.name)
    groups, values = block.groups(), block.values
    documents = TextIds(block.bytes, block.starts, block.ends, "str")
    del block  # free the hashes and runs, which take more memory than the columns
    return RunColumns(file.name, groups, documents, values, duplicates="first")


class FileStamp(NamedTuple):
    """The path of a file that can be read again, and its size and modification time, which reveal changes."""

    path: str
    size: int  # in bytes
    changed: int  # in nanoseconds


def stamp_of(source: FileInput) -> FileStamp | None:
    """Return the stamp of a regular file, or None for other inputs, which may be readable only once."""
    if is_standard_input(source) or not isinstance(source, (str, os.PathLike)):
        return None
    path = os.path.abspath(os.fsdecode(source))
    try:
        status = os.stat(path)
    except (OSError, ValueError):  # reading the file will raise a better error
        return None
    return FileStamp(path, status.st_size, status.st_mtime_ns) if stat.S_ISREG(status.st_mode) else None


class TrecSource(JudgmentSource):
    """A run from a TREC file, with the ranks of its hits under given rules."""

    in_file = True

    def __init__(
        self,
        judgments: JudgmentSets,
        name: str,
        hits: RunHits,
        stamp: FileStamp | None,
        rules: Rules,
        *,
        missing: Missing,
        query_ids: Iterable[Hashable] | None,
        duplicates: Duplicates = "error",
    ) -> None:
        common = np.flatnonzero(hits.returned)
        super().__init__(judgments, name, hits.queries.names, common, missing, query_ids)
        self._hits = hits
        self._file = stamp
        self._rules = rules
        self._duplicates = duplicates

    def under_missing(self, missing: Missing) -> TrecSource:
        return self._with(self._hits, self._rules, missing, self._names_under(missing))

    def _with(self, hits: RunHits, rules: Rules, missing: Missing, names: Iterable[Hashable] | None) -> TrecSource:
        return TrecSource(
            self._judgments,
            self._run_name,
            hits,
            self._file,
            rules,
            missing=missing,
            query_ids=names,
            duplicates=self._duplicates,
        )

    def under(self, rules: Rules) -> TrecSource:
        if _ranking_rules(rules) == _ranking_rules(self._rules):
            return self
        path, ties = self._unchanged().path, rules.ties or "docid"
        _, hits = read_run(path, self._judgments, ties, rules.score_bits, duplicates=self._duplicates)
        assert isinstance(hits, RunHits)
        assert self.missing is not None
        return self._with(hits, rules, self.missing, self.query_ids if self._named else None)

    @property
    def sizes(self) -> Ints:
        returned = self._hits.returned
        return returned if self._numbers is None else returned[self._numbers]

    def chunk_of(self, judgments: JudgmentSets, start: int, stop: int) -> Chunk:
        run_hits, numbers = self._hits, self._numbers_of(start, stop)
        rows, offsets = slices_of(run_hits.offsets[numbers], run_hits.offsets[numbers + 1])
        judged_rows, judged_offsets = judgments.rows(numbers)
        grades = judgments.grades[judged_rows]
        hits = (
            judgments.grades[run_hits.rows[rows]],
            run_hits.first[rows],
            run_hits.last[rows],
            run_hits.returned[numbers],
        )
        return _codes.HITS, 0, stop - start, offsets, *hits, judged_offsets, grades

    def documents(self, query: int, rules: Rules) -> Documents | None:
        """Return the documents of a query by reading the file again, or None if this is impossible."""
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
        """Return the file, or raise an error if the file was changed or can be read only once."""
        if self._file is None:
            raise ValueError(
                f"{self._run_name} cannot be read again, which other rules for ties or scores need: give the path "
                "of a file, or read it under those rules from the beginning"
            )
        if stamp_of(self._file.path) != self._file:
            raise ValueError(f"{self._run_name} was changed after it was read: read it again")
        return self._file

    def run_refusal(self, query: int, error: InputError) -> Exception:
        return refusal(error.code, f"{self._run_name}: {self.query_name(query)}", error.detail)
