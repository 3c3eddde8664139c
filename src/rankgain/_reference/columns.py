"""The specification: the kernels over columns of ids. The compiled half is `_compiled/columns.pxi`.

Ids come in three buffers: row i is the bytes starts[i] … ends[i] − 1 of the data; the caller has checked the bounds. If
`starts` is empty, the data are int64 or int32 numbers, recognised by the size of the buffer. Errors are returned as
(code, query, position among the query's rows).
"""

from itertools import groupby

from rankgain._codes import DUPLICATE
from rankgain.errors import ErrorCode
from rankgain.scalars import Bytes, Floats, Int32s, Ints


def _ids(data, starts, ends, count):
    """The `count` ids, as bytes or, without starts, as int."""
    return rows_of_ids(0 if len(starts) else len(data) // max(count, 1), data, starts, ends, 0, count)


def rows_of_ids(width, data, starts, ends, first, last):
    """The ids of rows first … last − 1: integers of `width` bytes, or slices of the data if `width` is 0."""
    data = memoryview(data)
    if width:
        return data[width * first : width * last].cast("i" if width == 4 else "q").tolist()
    pairs = zip(memoryview(starts)[first:last], memoryview(ends)[first:last], strict=True)
    return [data[start:end].tobytes() for start, end in pairs]


def number_ids(
    data: Bytes,
    starts: Ints,
    ends: Ints,
    names: Bytes,
    bounds: Ints,
    slots: Ints,
    known: int,
    rows: Ints,
    numbers: Ints,
) -> tuple[int, int, int]:
    """Number text ids in order of first appearance; `known` ids have numbers already.

    Consecutive equal ids form one run: `rows` and `numbers` get the first row and the id's number for each run. New ids
    are appended to `names`, and the end of each to `bounds`, until either buffer is full. `slots` is the hash table
    that the compiled half keeps between calls; plain Python does not use it. Return the number of rows read, of runs,
    and of ids.
    """
    text = bytes(names)
    number_of = {text[bounds[number] : bounds[number + 1]]: number for number in range(known)}
    runs = 0
    for name, run in groupby(enumerate(_ids(data, starts, ends, len(starts))), key=lambda pair: pair[1]):
        row, _ = next(run)
        if name not in number_of:
            end = bounds[known] + len(name)
            if known == len(bounds) - 1 or end > len(names):
                return row, runs, known
            names[bounds[known] : end] = memoryview(name)
            bounds[known + 1] = end
            number_of[name] = known
            known += 1
        rows[runs], numbers[runs] = row, number_of[name]
        runs += 1
    return len(starts), runs, known


def number_integers(data: Bytes, n: int, numbers: Int32s, firsts: Ints, sizes: Ints) -> tuple[int, bool]:
    """Number n integers in order of first appearance.

    `firsts` and `sizes` get the first row and the number of rows of each integer. Return how many integers there are,
    and whether the rows of any are scattered; only in that case, `numbers` gets the number of each row.
    """
    number_of = {}
    ids = rows_of_ids(len(data) // n, data, (), (), 0, n) if n else []
    row_numbers = [number_of.setdefault(identifier, len(number_of)) for identifier in ids]
    sizes[: len(number_of)] = 0
    for row in reversed(range(n)):
        firsts[row_numbers[row]] = row
        sizes[row_numbers[row]] += 1
    scattered = sum(1 for _ in groupby(row_numbers)) > len(number_of)
    if scattered:
        numbers[:n] = row_numbers
    return len(number_of), scattered


def order_rows(numbers: Int32s, begins: Ints, order: Ints) -> None:
    """Sort the rows by number, stably: the rows of number i are written to `order` from begins[i] on.

    Afterwards begins[i] is the end of the rows of number i.
    """
    for row, number in enumerate(numbers.tolist()):
        order[begins[number]] = row
        begins[number] += 1


def copy_views(views: Bytes, buffers: list[Bytes], data: Bytes, starts: Ints, ends: Ints) -> int | None:
    """Copy the texts of Arrow's string views (16 bytes each); return the row of a broken view, or None."""
    views, data = memoryview(views), memoryview(data)
    written = 0
    for row in range(len(starts)):
        size, _, source, offset = views[16 * row : 16 * row + 16].cast("i")
        if size < 0:
            return row
        text = views[16 * row + 4 : 16 * row + 4 + size]
        if size > 12:
            if not 0 <= source < len(buffers) or offset < 0 or offset + size > len(buffers[source]):
                return row
            text = memoryview(buffers[source])[offset : offset + size]
        starts[row] = written
        data[written : written + size] = text
        written += size
        ends[row] = written
    return None


def repeated(data: Bytes, starts: Ints, ends: Ints, offsets: Ints) -> ErrorCode:
    """The first id that a query has twice, or None."""
    width = 0 if len(starts) else len(data) // max(offsets[-1], 1)
    for query in range(len(offsets) - 1):
        seen = set()
        ids = rows_of_ids(width, data, starts, ends, offsets[query], offsets[query + 1])
        for position, identifier in enumerate(ids):
            if identifier in seen:
                return DUPLICATE, query, position
            seen.add(identifier)
    return None


def mark_common(offsets: Ints, columns: Int32s, other_offsets: Ints, others: Int32s, marks: Bytes) -> int:
    """Mark the columns of each row of a sparse matrix that also occur in that row of another matrix; return the count.

    The columns of a row are in ascending order.
    """
    for row in range(len(offsets) - 1):
        in_other = {*others[other_offsets[row] : other_offsets[row + 1]].tolist()}
        for index in range(offsets[row], offsets[row + 1]):
            marks[index] = columns[index] in in_other
    return int(marks.sum())


def mark_firsts(
    data: Bytes, starts: Ints, ends: Ints, offsets: Ints, scores: Floats | None, marks: Bytes, sizes: Ints
) -> None:
    """Mark one row per id of each query with 1: the row with the highest score, the first one if scores are tied.

    NaN counts as higher than all numbers, so that ordering the query refuses it later. `sizes` gets the number of
    marked rows of each query.
    """
    ids = _ids(data, starts, ends, offsets[-1])
    for query in range(len(offsets) - 1):
        row_of = {}
        for row in range(offsets[query], offsets[query + 1]):
            earlier = row_of.setdefault(ids[row], row)
            if scores is not None and _below(scores[earlier], scores[row]):
                row_of[ids[row]] = row
        sizes[query] = len(row_of)
        for row in row_of.values():
            marks[row] = 1


def _below(score, other):
    return score < other or (score == score and other != other)
