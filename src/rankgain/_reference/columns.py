"""Reference implementation of the kernels that process columns of ids, compiled in `_compiled/columns.pxi`.

Ids are passed in three buffers: the id in row i is stored in bytes starts[i] … ends[i] − 1 of the data. The caller has
checked these bounds. If `starts` is empty, the data are int64 or int32 numbers, depending on the size of the buffer.
Errors are returned as (code, query, position among the query's rows).
"""

from itertools import groupby

from rankgain._codes import DUPLICATE
from rankgain.errors import ErrorCode
from rankgain.scalars import Bytes, Floats, Int32s, Ints


def _ids(data, starts, ends, count):
    """Return a list of `count` ids, as bytes or, if `starts` is empty, as int."""
    return rows_of_ids(0 if len(starts) else len(data) // max(count, 1), data, starts, ends, 0, count)


def rows_of_ids(width, data, starts, ends, first, last):
    """Return the ids of rows first … last − 1. They are integers of `width` bytes or, if `width` is 0, slices of the
    data."""
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
    """Number text ids in order of first appearance. The first `known` ids already have numbers.

    Consecutive equal ids form a run. The first row of each run is written to `rows`, and the number of its id to
    `numbers`. New ids are appended to `names`, and the end of each id to `bounds`, until either buffer is full. `slots`
    is a hash table that the compiled version keeps between calls; it is not used here. Return the number of rows read,
    the number of runs and the number of ids.
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

    For each integer, the first row is written to `firsts`, and the number of rows to `sizes`. Return how many distinct
    integers there are, and whether the rows of any integer are scattered. Only if they are, the number of each row is
    written to `numbers`.
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
    """Sort the rows stably by number. The rows with number i are written to `order`, starting at begins[i].

    Afterwards begins[i] is the end of the rows with number i.
    """
    for row, number in enumerate(numbers.tolist()):
        order[begins[number]] = row
        begins[number] += 1


def copy_views(views: Bytes, buffers: list[Bytes], data: Bytes, starts: Ints, ends: Ints) -> int | None:
    """Copy the strings of an Arrow string-view array, whose views have 16 bytes each. Return the row of an invalid
    view, or None."""
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
    """Return the error for the first id that occurs twice in a query, or None."""
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
    """In each row of a sparse matrix, mark the columns that also occur in the same row of another matrix. Return their
    number.

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
    """Mark one row for each distinct id of a query: the row with the highest score, or the first such row if scores are
    tied.

    The mark is 1. NaN counts as the highest score, so it is kept and rejected when the query is ordered. The number of
    marked rows of each query is written to `sizes`.
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
