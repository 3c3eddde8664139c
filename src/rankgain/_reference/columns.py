"""The specification: every kernel over ids in columns, in plain Python. The compiled half is `_compiled/columns.pxi`.

Ids stand in three buffers: row i is the bytes starts[i] … ends[i] − 1 of the data, which lie inside it (the maker of
the buffers sees to that); where starts is empty, the data hold numbers, int64 or, if that is their size, int32. As in
`rankgain._reference.dicts`, what is wrong comes back as an error: (code, query, position among the query's rows).
"""

from itertools import groupby

from rankgain._codes import DUPLICATE
from rankgain.errors import ErrorCode
from rankgain.scalars import Bytes, Floats, Int32s, Ints


def _ids(data, starts, ends, count):
    """The ids, `count` in all, as bytes or, where there are no starts, as int."""
    return rows_of_ids(0 if len(starts) else len(data) // max(count, 1), data, starts, ends, 0, count)


def rows_of_ids(width, data, starts, ends, first, last):
    """The ids of rows first … last − 1: numbers of so many bytes, or, if that is 0, stretches of the data."""
    data = memoryview(data)
    if width:
        return data[width * first : width * last].cast("i" if width == 4 else "q").tolist()
    pairs = zip(memoryview(starts)[first:last], memoryview(ends)[first:last], strict=True)
    return [data[start:end].tobytes() for start, end in pairs]


def number_ids(
    data: Bytes, starts: Ints, ends: Ints, n: int, rows: Ints, numbers: Ints, firsts: Ints
) -> tuple[int, int]:
    """Number n ids in the order of their first appearance, whose rows are `firsts`.

    Where one id follows itself is no news: `rows` and `numbers` take where each run of one id begins, and which it is.
    Returns how many runs and how many ids there are.
    """
    known = {}
    runs = 0
    for identifier, run in groupby(enumerate(_ids(data, starts, ends, n)), key=lambda pair: pair[1]):
        row, _ = next(run)
        if identifier not in known:
            firsts[len(known)] = row
            known[identifier] = len(known)
        rows[runs], numbers[runs] = row, known[identifier]
        runs += 1
    return runs, len(known)


def number_integers(data: Bytes, n: int, numbers: Int32s, firsts: Ints, sizes: Ints) -> tuple[int, bool]:
    """Number n integers in the order of their first appearance.

    `firsts` and `sizes` take the first row of each integer, and how many rows it has. Returns how many integers there
    are, and whether the rows of any of them are apart; only then does `numbers` take the number of each row.
    """
    known = {}
    ids = rows_of_ids(len(data) // n, data, (), (), 0, n) if n else []
    found = [known.setdefault(identifier, len(known)) for identifier in ids]
    for number in range(len(known)):
        sizes[number] = 0
    for row in reversed(range(n)):
        firsts[found[row]] = row
        sizes[found[row]] += 1
    apart = sum(1 for _ in groupby(found)) > len(known)
    if apart:
        numbers[:n] = found
    return len(known), apart


def order_rows(numbers: Int32s, begins: Ints, order: Ints) -> None:
    """Put the rows of each number together, in their order, from where those of that number begin.

    Afterwards `begins` is where the rows of each number end.
    """
    for row, number in enumerate(numbers.tolist()):
        order[begins[number]] = row
        begins[number] += 1


def copy_views(views: Bytes, buffers: list[Bytes], data: Bytes, starts: Ints, ends: Ints) -> int | None:
    """Copy Arrow's string views (16 bytes each) one after the other; the row of a view that is broken, or None."""
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
    """The first id that stands twice in one query, or None."""
    width = 0 if len(starts) else len(data) // max(offsets[-1], 1)
    for query in range(len(offsets) - 1):
        seen = set()
        ids = rows_of_ids(width, data, starts, ends, offsets[query], offsets[query + 1])
        for position, identifier in enumerate(ids):
            if identifier in seen:
                return DUPLICATE, query, position
            seen.add(identifier)
    return None


def mark_firsts(
    data: Bytes, starts: Ints, ends: Ints, offsets: Ints, scores: Floats | None, marks: Bytes, sizes: Ints
) -> None:
    """Mark one row per id of each query with 1: that of the highest score (NaN is below all), of several the first.

    `sizes` takes how many each query keeps.
    """
    ids = _ids(data, starts, ends, offsets[-1])
    for query in range(len(offsets) - 1):
        kept = {}
        for row in range(offsets[query], offsets[query + 1]):
            earlier = kept.setdefault(ids[row], row)
            if scores is not None and _below(scores[earlier], scores[row]):
                kept[ids[row]] = row
        sizes[query] = len(kept)
        for row in kept.values():
            marks[row] = 1


def _below(score, other):
    return score < other or (score != score and other == other)
