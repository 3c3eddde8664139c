"""Read TREC files: the whole text, and the columns of its lines, whose ids are slices of the text."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from rankgain import _backend, _codes
from rankgain.choices import Duplicates
from rankgain.data import files
from rankgain.data.advice.layouts import frame_advice, layout_advice
from rankgain.data.columns import RunColumns
from rankgain.data.files import FileInput, is_msmarco, opened
from rankgain.data.groups import QueryRows
from rankgain.data.ids import NONE, Keys, TextIds, decoded, row_numbers
from rankgain.data.ragged import offsets_of
from rankgain.errors import BY_SUBTOPIC, quoted, refusal, warn
from rankgain.scalars import Array, Bytes, Ints, to_intp
from rankgain.threads import run_chunks

LINE = 1 << 20  # maximum number of bytes in an id, and the number of bytes in which newlines are counted together


class _Form(NamedTuple):
    """The layout of a line. The first field is always the query."""

    fields: str  # the names of the fields, in order
    document: int  # index of the document field, from 0
    value: int  # index of the field with the grade, score or rank, from 0
    grades: bool = False  # whether the value is a grade
    ranks: bool = False  # whether the value is a rank

    @property
    def n_fields(self) -> int:
        """The number of fields in a line."""
        return self.fields.count(",") + 1

    @property
    def n_fields_if_swapped(self) -> int:
        """The number of fields in a line if qrels and run have been swapped."""
        return RUN.n_fields if self.grades else QRELS.n_fields


QRELS = _Form("query, iteration, document, grade", 2, 3, grades=True)
RUN = _Form("query, Q0, document, rank, score, tag", 2, 4)
RUNS = RUN._replace()  # a file whose ranks and tags are not compared, since it may hold several runs
QRELS_BY_SUBTOPIC = _Form("query, subtopic, document, grade", 2, 3, grades=True)
BEIR_QRELS = _Form("query-id, corpus-id, score", 1, 2, grades=True)
MSMARCO_RUN = _Form("query, document, rank", 1, 2, ranks=True)


class TrecText:
    """The text of a TREC file, with the bounds and the value of the document in each row, and the rows of each query.

    A row is a line that is neither blank nor a comment. `assumed`: what was assumed about the values, in words.
    """

    assumed: tuple[str, ...] = ()

    def __init__(
        self,
        text: bytes | bytearray | Bytes,
        form: _Form,
        name: str,
        threads: int = 1,
        *,
        unique: bool = False,
        space: bytes = b"",
    ) -> None:
        """`unique`: whether to refuse documents that appear twice in a query. `space`: the byte that stands for a space
        within ids, if any; it is replaced in the text."""
        self.bytes = np.frombuffer(text, dtype=np.uint8)
        self._name = name
        self._form = form
        self._unique = unique
        (self.starts, self.ends, self.values, hashes), runs = self._scanned(threads)
        if space:
            self.bytes[self.bytes == ord(space)] = ord(" ")
        if form.ranks:
            self._negate_ranks()
        if len(self.bytes) > LINE:
            self._check_lengths(runs)
        self.groups = QueryRows.of(TextIds(self.bytes, runs[:, 1], runs[:, 2], "str"), runs[:, 0], len(self.starts))
        del runs
        if form is QRELS and len(self.values) and self.values.min() >= _TIME:
            raise ValueError(
                f"{self._name}: field 4 holds times, not grades: all are at least 10^8; if the file has ratings "
                f"with times, {frame_advice(self._name, 'user_id item_id rating timestamp')}"
            )
        if form.ranks:
            self._check_ranks()
        if form is RUN:
            self._check_tags_and_ranks(hashes if not unique else None)
        if unique:
            self._refuse_repeated(hashes)

    @property
    def documents(self) -> TextIds:
        return TextIds(self.bytes, self.starts, self.ends, "str")

    def _scanned(self, threads: int) -> tuple[list[Array], Ints]:
        """Scan the text; return the columns of the rows, and the runs of rows with the same query.

        Each run has three numbers: its first row, and the start and the end of the query id. Threads scan parts of the
        text. The rows of a part are written at the index of its first line and then moved up, if there are blank lines
        and comments before them.
        """
        parts = self._parts()
        index = {part: number for number, part in enumerate(parts)}
        lines = run_chunks(parts, self._count_newlines, threads)
        firsts = offsets_of(np.array(lines)).tolist()
        columns = columns_for(firsts[-1] + 1)  # the last line may lack a newline
        # Allocated here, because memory that another thread allocates may stay reserved for it.
        runs: list[Ints] = [np.empty(3 * (count + 1), dtype=np.int64) for count in lines]

        def scan(start: int, stop: int) -> tuple[int, int]:
            number = index[start, stop]
            return self._scan(start, stop, (*(column[firsts[number] :] for column in columns), runs[number]))

        rows = 0
        for number, (more, n_runs) in enumerate(run_chunks(parts, scan, threads)):
            first, runs[number] = firsts[number], runs[number][: 3 * n_runs].reshape(-1, 3)
            runs[number][:, 0] += rows
            for column in columns if first != rows else ():
                column[rows : rows + more] = column[first : first + more]
            rows += more
        joined = runs[0] if len(runs) == 1 else np.concatenate(runs)
        runs.clear()  # threads that are about to end still refer to `scan`
        return [column[:rows] for column in columns], joined

    def _parts(self) -> list[tuple[int, int]]:
        """Return the bounds of parts of the text, each of which ends with a line."""
        size = len(self.bytes)
        ends = map(self._line_end, range(files.BLOCK, size, files.BLOCK))
        return list(pairwise(dict.fromkeys([0, *ends, size]))) or [(0, 0)]

    def _line_end(self, position: int) -> int:
        """Return the position after the next newline."""
        for start in range(position, len(self.bytes), LINE):
            if (newlines := self.bytes[start : start + LINE] == _NEWLINE).any():
                return start + int(newlines.argmax()) + 1
        return len(self.bytes)

    def _count_newlines(self, start: int, stop: int) -> int:
        # Compared in pieces that fit in the cache, this is several times faster than `bytes.count`.
        pieces = (self.bytes[at : min(at + LINE, stop)] for at in range(start, stop, LINE))
        return sum(int(np.count_nonzero(piece == _NEWLINE)) for piece in pieces)

    def _scan(self, start: int, stop: int, buffers: tuple[Array, ...]) -> tuple[int, int]:
        """Scan the lines in bytes start … stop − 1; return the numbers of rows and of runs."""
        form = self._form
        fields = form.n_fields, form.document, form.value, form.grades
        rows, runs, error_code = _backend.lines.scan(self.bytes, start, stop, buffers, *fields)
        if error_code is not None:
            code, line, field = error_code
            line += self._count_newlines(0, start)
            begin = self._line(line).start
            TrecText(self.bytes[:begin], form, self._name, unique=self._unique)  # raises an error in an earlier line
            raise self._refusal(code, line, field)
        return rows, runs

    def document(self, row: int) -> bytes:
        return self.bytes[self.starts[row] : self.ends[row]].tobytes()

    def _negate_ranks(self) -> None:
        """Convert ranks to scores, so that higher is better."""
        negative = np.flatnonzero(self.values < 0.0)
        if len(negative):
            line = self._count_newlines(0, int(self.starts[negative[0]]))
            raise ValueError(
                f"{self._name}: line {line + 1}, field {self._form.value + 1}: a rank must not be negative; ColBERT "
                "writes -1 where a document has no rank: leave such lines out, or pass a frame with the scores"
            )
        np.negative(self.values, out=self.values)

    def _check_lengths(self, runs: Ints) -> None:
        """Refuse ids longer than LINE bytes.

        An id that is too long must extend over a position that is a multiple of LINE, so that only the rows at these
        positions are examined.
        """
        multiples = np.arange(0, len(self.bytes), LINE)
        columns = (0, runs[:, 1], runs[:, 2]), (self._form.document, self.starts, self.ends)
        for field, starts, ends in columns:
            rows = np.searchsorted(starts, multiples, "right") - 1 if len(starts) else NONE
            long = rows[ends[rows] - starts[rows] > LINE]
            if len(long):
                line = self._count_newlines(0, int(starts[long.min()])) + 1
                where = f"{self._name}: line {line}, field {field + 1}"
                raise ValueError(f"{where}: the field has more than {LINE} bytes; give shorter ids")

    def _line(self, number: int) -> slice:
        """Return the position of a line, counted from 0, without its newline."""
        ends = np.flatnonzero(self.bytes == _NEWLINE)
        start = int(ends[number - 1]) + 1 if number else 0
        return slice(start, int(ends[number]) if number < len(ends) else len(self.bytes))

    def _fields(self, line: int) -> list[bytes]:
        return self.bytes[self._line(line)].tobytes().split()

    def _refusal(self, code: int, line: int, field: int) -> Exception:
        """Return the error for an error code from a scan. Scans count lines and fields from 0, and messages from 1."""
        form = self._form
        where = f"{self._name}: line {line + 1}"
        fields = self._fields(line)
        text = self.bytes[self._line(line)].tobytes()
        advice = layout_advice(self._name, text, of_run=not form.grades, is_first=line == 0)
        if code == _codes.FEW_FIELDS:
            reason = f"expected {form.n_fields} fields ({form.fields}), found {field}"
            if field == form.n_fields_if_swapped and not advice:
                reason += "; are qrels and run swapped?"
            elif form is QRELS and field == form.n_fields + 1 and not advice:
                reason += (
                    "; prels, which sample the pool (query, document, grade, method, probability), are not supported"
                )
            elif field == 2 * form.n_fields - 1:  # two lines may have been joined without a newline
                reason += "; if files were joined here, the first lacked a final newline"
            elif field == 1 and b"," in fields[0] and not advice:
                reason += "; CSV files with a header are read by rankgain.from_frames and rankgain.evaluate"
            return refusal(code, where, f"{reason}; {advice}" if advice else reason)
        error = refusal(code, f"{where}, field {field + 1}", quoted(decoded(fields[field])))
        return ValueError(f"{error}; {advice}") if advice and code == _codes.NOT_A_NUMBER else error

    def _check_ranks(self) -> None:
        """Refuse ranks that repeat, which may be counts, and remark on those that neither start at 1 nor rise."""
        rows, offsets = self.groups.rows(np.arange(len(self.groups)))
        ranks, sizes = -self.values[rows], np.diff(offsets)
        queries = np.repeat(np.arange(len(sizes)), to_intp(sizes))
        same = queries[1:] == queries[:-1]
        falls = same & (np.diff(ranks) <= 0)
        if not falls.any():
            return  # ranks usually rise
        order = np.lexsort((ranks, queries))
        repeated = same & (np.diff(ranks[order]) == 0)
        n_falls = np.bincount(queries[1:][falls], minlength=len(sizes))
        unranked = int(np.count_nonzero((n_falls > 0) & (ranks[offsets[:-1]] > 1)))
        advice = f"if it holds scores, {frame_advice(self._name, 'query_id doc_id score')}"
        if repeated.any():
            query = self.groups.names[int(queries[int(repeated.argmax())])]
            raise ValueError(
                f"{self._name}: field 3 does not hold ranks: query {quoted(query)} has a rank twice; {advice}"
            )
        if 2 * unranked > len(sizes):  # as in files that are sorted by document
            self.assumed = (
                f"{self._name}: field 3 was read as ranks, which neither start at 1 nor rise in {unranked} of "
                f"{len(sizes)} queries; {advice}",
            )

    def _check_tags_and_ranks(self, hashes: Ints | None) -> None:
        """Refuse the lines of several runs, and warn if the scores rise with the ranks.

        `hashes`: those of the documents, if repeated ones are not refused anyway.
        """
        if not len(self.groups):
            return
        sizes = self.groups.lasts - self.groups.firsts
        ends, _ = self.groups.rows(np.arange(min(len(sizes), _QUERIES)))
        samples = row_numbers(ends)[np.linspace(0, sizes[:_QUERIES].sum() - 1, _SAMPLES).astype(np.int64)]
        tags = {self._last_fields(row)[2] for row in (*samples.tolist(), len(self.starts) - 1)}
        if len(tags) > 1:
            self._refuse_several_ranks()
            if hashes is not None:
                self._refuse_repeated(hashes, between_runs=True)
        self.warn_of_rising_scores(self.groups)

    def _last_fields(self, row: int) -> list[bytes]:
        """Return the rank, the score and the tag of a row."""
        start = int(self.ends[row])
        text = self.bytes[start : start + _SHORT].tobytes()
        if (end := text.find(b"\n")) < 0:
            text = self.bytes[start : self._line_end(start)].tobytes()
            end = len(text)
        return text[:end].split()

    def _refuse_several_ranks(self) -> None:
        """Refuse lines whose ranks repeat in most queries, and are distinct within each tag."""
        repeated = 0
        examined = min(len(self.groups), _QUERIES)
        for query in range(examined):
            rows = row_numbers(self.groups.rows(np.array([query]))[0]).tolist()
            fields = [self._last_fields(row) for row in rows]
            ranks = [rank for rank, _, _ in fields]
            if len({(tag, rank) for rank, _, tag in fields}) < len(ranks):
                return
            repeated += len(set(ranks)) < len(ranks)
        if 2 * repeated > examined:
            raise ValueError(
                f"{self._name}: the ranks repeat in {repeated} of {examined} queries, and not within a tag, so the "
                f"file holds several runs: {_SPLIT}"
            )

    def warn_of_rising_scores(self, groups: QueryRows) -> None:
        """Warn if, in every query of at least 3 documents, the scores rise with the rank."""
        long = np.flatnonzero(groups.lasts - groups.firsts >= 3)[:_QUERIES]
        for query in long.tolist():
            rows = row_numbers(groups.rows(np.array([query]))[0])
            scores = self.values[rows]
            last, first = (self._last_fields(int(rows[index])) for index in (scores.argmax(), scores.argmin()))
            if not _is_above(last[0], first[0]):
                return  # an honest file ends here, in the first query
            ranks = [self._last_fields(row)[0] for row in rows[np.argsort(scores)].tolist()]
            if np.any(np.diff(np.sort(scores)) == 0.0) or not all(_is_above(*pair) for pair in pairwise(ranks[::-1])):
                return
        if len(long):
            warn(
                f"{self._name}: the scores rise with the rank in every query, and the highest score comes first, as in "
                "trec_eval, which ignores ranks: if lower scores are better, write the file with negative scores"
            )

    def _refuse_repeated(self, hashes: Ints, *, between_runs: bool = False) -> None:
        """Refuse documents that appear twice in a query. Ids are compared only if a query has two equal hashes.

        `between_runs`: only if they have different tags.
        """
        rows, offsets = self.groups.rows(np.arange(len(self.groups)))
        query, keys = 0, Keys(np.ascontiguousarray(hashes[rows]), NONE, NONE)
        while (error_code := _backend.columns.repeated(*keys.buffers(), offsets[query:])) is not None:
            query += error_code[1] + 1
            seen: dict[bytes, int] = {}
            for row in row_numbers(self.groups.rows(np.array([query - 1]))[0]).tolist():
                first = seen.setdefault(self.document(row), row)
                tags = [self._last_fields(each)[2] for each in (first, row)] if self._form is RUN else []
                if first != row and len(set(tags)) > 1:
                    document = quoted(decoded(self.document(row)))
                    raise ValueError(
                        f"{self._name}: line {self.line_of(row) + 1}: {document} already appears in an earlier "
                        f"line of this query, with the tag {quoted(decoded(tags[0]))} instead of "
                        f"{quoted(decoded(tags[1]))}, so the file holds several runs: {_SPLIT}"
                    )
                if first != row and not between_runs:
                    raise self.repeated(row)

    def line_of(self, row: int) -> int:
        """Return the number of a row's line, from 0."""
        return self._count_newlines(0, int(self.starts[row]))

    def repeated(self, row: int) -> Exception:
        """Return the error for a row whose document already appears in an earlier row of the same query."""
        line = self.line_of(row)
        where = f"{self._name}: line {line + 1}, field {self._form.document + 1}"
        detail = f"{quoted(decoded(self.document(row)))} already appears in an earlier line"
        if not self._form.grades:
            return refusal(_codes.DUPLICATE, where, detail)
        error = refusal(_codes.DUPLICATE | _codes.IN_JUDGED, where, detail)
        if self._form is QRELS and self._fields(line)[1] != b"0":
            return ValueError(f"{error}; if field 2 is a subtopic, write {BY_SUBTOPIC}")
        return error


_NEWLINE = ord("\n")
_QUERIES = 100  # maximum number of queries whose ranks are examined
_TIME = 1e8  # grades are smaller, and times in seconds since 1970 larger since 1973
_SAMPLES = 8  # number of rows whose tags are compared first
_SHORT = 128  # a number of bytes that usually hold the rest of a line
_SPLIT = "to compare them, write rankgain.compare(truth, path, metrics, run='tag')"


def _is_above(rank: bytes, other: bytes) -> bool:
    """Return whether a rank is a larger integer than another one."""
    return rank.isdigit() and other.isdigit() and int(rank) > int(other)


def columns_for(lines: int) -> list[Array]:
    """Return the columns that `scan` fills: the starts and the ends of documents, the values, and the hashes."""
    return [np.empty(lines, dtype=dtype) for dtype in (np.int64, np.int64, np.float64, np.int64)]


def read_run(
    run: FileInput,
    threads: int = 1,
    *,
    argument: str = "run",
    duplicates: Duplicates = "error",
    compares_tags: bool = True,
) -> RunColumns:
    """Read a run file. Documents that appear twice in a query are refused here, because the error names the line.

    `compares_tags`: whether several runs in one file are refused, and scores that rise with the ranks cause a warning.
    """
    with opened(run, argument) as file:
        file.check_format()
        form = MSMARCO_RUN if is_msmarco(file) else RUN if compares_tags else RUNS
        text, error = file.text()
    lines = TrecText(text, form, file.name, threads, unique=duplicates == "error")
    if error is not None:
        raise error
    rules: dict[str, Any] = {"duplicates": duplicates, "assumed": lines.assumed}
    return RunColumns(file.name, lines.groups, lines.documents, lines.values, **rules)


def read_tagged_runs(run: FileInput, threads: int, duplicates: Duplicates) -> dict[str, RunColumns]:
    """Read a file of several runs by the tags of their lines."""
    with opened(run, "runs") as file:
        file.check_format()
        if is_msmarco(file):
            raise ValueError(f"{file.name} has three fields, query, document and rank, and so no tags: leave out run=")
        text, error = file.text()
    lines = TrecText(text, RUNS, file.name, threads)
    if error is not None:
        raise error
    # Read as documents, the tags have the same rows.
    tags = QueryRows.of(TrecText(text, RUNS._replace(document=5), file.name, threads).documents)
    run_of, runs = tags.by_row(), {}
    for number, tag in enumerate(tags.names):
        groups = lines.groups.where(run_of == number)
        lines.warn_of_rising_scores(groups)
        rules: dict[str, Any] = {"check_all": duplicates == "error", "duplicates": duplicates}
        runs[tag] = RunColumns(file.name, groups, lines.documents, lines.values, **rules)
    return runs
