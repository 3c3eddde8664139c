"""Reference implementation of the kernels that process lines of TREC files, compiled in `_compiled/lines.pyx`.

Errors are returned as (code, line, field), both counted from 0.
"""

from bisect import bisect_left, bisect_right
from typing import Any

from rankgain._codes import DOCID, FEW_FIELDS, INFINITE_GRADE, NAN_GRADE, NAN_SCORE, NOT_A_NUMBER, STABLE
from rankgain.errors import ErrorCode
from rankgain.scalars import Ints, decimal

# A tuple of buffers. A block is (data, starts, ends, values, hashes, runs). Lists of hits are (data, starts, ends,
# offsets, grades, slots, scores, orders, hit_counts, hits, keys, above, equals, ties).
Buffers = tuple[Any, ...]

# UNSEEN: no line of the query has been read; MATCHED: lines have been read, but hits are not sorted
UNSEEN, MATCHED = -2, -1


def scan(
    block: Buffers, totals: Ints, field_count: int, document_field: int, value_field: int, grades: bool
) -> ErrorCode:
    """Parse lines of `field_count` fields, and find the query, the document and the score or grade of each line.

    The query is the first field. A block consists of the data and the arrays to fill: starts and ends of documents,
    scores or grades, hashes of documents (valid within this process), and runs. A run consists of consecutive rows of
    the same query. Five numbers are written to `runs` for each run: the first row, the start and the end of the query
    id, the start of the first line, and the number of that line. The numbers of rows, runs and lines are written to
    `totals`. Blank lines and lines that begin with # are skipped.
    """
    data, document_start, document_end, value, hashes, runs = block
    data = bytes(data)
    rows = run_count = line_start = 0
    previous_query = None
    lines = data.split(b"\n")
    if not lines[-1]:
        lines.pop()
    for number, line in enumerate(lines):
        fields = line.split()
        if fields and not fields[0].startswith(b"#"):
            if len(fields) != field_count:
                return FEW_FIELDS, number, len(fields)
            number_read = decimal(fields[value_field])
            if number_read is None:
                return NOT_A_NUMBER, number, value_field
            if number_read != number_read:
                return (NAN_GRADE if grades else NAN_SCORE), number, value_field
            if grades and number_read in (float("inf"), float("-inf")):
                return INFINITE_GRADE, number, value_field
            starts = []
            end = 0
            for field in fields[: document_field + 1]:
                starts.append(line.index(field, end))
                end = starts[-1] + len(field)
            if fields[0] != previous_query:
                query = line_start + starts[0]
                runs[5 * run_count : 5 * run_count + 5] = (rows, query, query + len(fields[0]), line_start, number)
                previous_query = fields[0]
                run_count += 1
            document = fields[document_field]
            document_start[rows] = line_start + starts[document_field]
            document_end[rows] = document_start[rows] + len(document)
            value[rows] = number_read
            hashes[rows] = hash(document)
            rows += 1
        line_start += len(line) + 1
    totals[:3] = rows, run_count, len(lines)
    return None


def _rows(starts, runs, numbers):
    """Yield each row with the number of its query."""
    begins = [*runs[::5], len(starts)]
    for index, number in enumerate(numbers):
        for row in range(begins[index], begins[index + 1]):
            yield row, number


def match_lines(block: Buffers, numbers: Ints, first: int, judged_of: Ints, sizes: Ints, lists: Buffers) -> None:
    """Find the judged documents among the rows of a block, and store their scores in `scores` and their rows in
    `orders`.

    The block is the result of `scan`, cut to the number of rows read. `judged_of` maps each query number to the judged
    query, or to −1. `first` is the number of rows before the block, and `sizes` counts the rows of each query number.
    `lists` begins with the judgments: ids, `offsets` and grades. The next items keep state between calls: `slots` is
    used by the compiled version, `scores` is NaN for documents that are not returned, `orders` holds their rows, and
    `hit_counts` is initially UNSEEN. The last items are the arrays that `count_lines` fills, and the tie policy.
    """
    data, starts, ends, values, _, runs = block
    judged_data, judged_starts, judged_ends, offsets, _, _, scores, orders, hit_counts, *_ = lists
    data, judged = bytes(data), bytes(judged_data)
    indices = {}  # for each query, the indices of its judged documents
    for row, number in _rows(starts, runs, numbers):
        sizes[number] += 1
        query = judged_of[number]
        if query < 0:
            continue
        if query not in indices:
            of_query = range(offsets[query], offsets[query + 1])
            indices[query] = {judged[judged_starts[index] : judged_ends[index]]: index for index in of_query}
            hit_counts[query] = MATCHED
        index = indices[query].get(data[starts[row] : ends[row]])
        if index is not None:
            scores[index], orders[index] = values[row], first + row


def count_lines(
    block: Buffers, numbers: Ints, first: int, judged_of: Ints, positions: Ints, hashes: Ints, lists: Buffers
) -> bool:
    """Count the documents that rank before each hit, after all rows have been matched. Return False if the file has
    grown.

    The hash of each row is written to `hashes`, at the next free position of its query according to `positions`.

    Here a hit is a returned document that occurs in the qrels with any grade. `hit_counts` holds the number of hits of
    each query, and `hits` lists them in rank order, starting at the offset of the query. For the i-th hit of a query,
    `above` counts the documents that are ranked between this hit and the previous hit. The last entry of `above` counts
    the documents below all hits. If the tie policy leaves documents tied with hits, `equals` counts them at the first
    of these hits.
    """
    data, starts, ends, values, row_hashes, runs = block
    judged_data, judged_starts, judged_ends, offsets, grades, _, scores, orders, hit_counts, hits, _, *counts = lists
    above, equals, ties = counts
    data, judged = bytes(data), bytes(judged_data)
    resolved = ties in (DOCID, STABLE)

    def key(score, identifier, order):
        """Return a sort key that increases with the rank."""
        if ties == DOCID:
            return -score, [-byte for byte in identifier] + [1]  # an id ranks above each of its prefixes
        return -score, order if ties == STABLE else 0

    def key_of(index):
        return key(scores[index], judged[judged_starts[index] : judged_ends[index]], orders[index])

    keys = {}  # for each query, the keys of its hits
    for row, number in _rows(starts, runs, numbers):
        identifier = data[starts[row] : ends[row]]
        if positions[number] == len(hashes):
            return False
        hashes[positions[number]] = row_hashes[row]
        positions[number] += 1
        query = judged_of[number]
        if query < 0:
            continue
        begin = offsets[query]
        if hit_counts[query] < 0:
            returned = [index for index in range(begin, offsets[query + 1]) if scores[index] == scores[index]]
            returned.sort(key=lambda index: (key_of(index), -grades[index]))
            hit_counts[query] = len(returned)
            hits[begin : begin + len(returned)] = returned
        if query not in keys:
            keys[query] = [key_of(index) for index in hits[begin : begin + hit_counts[query]]]
        row_key = key(values[row], identifier, first + row)
        low, high = bisect_left(keys[query], row_key), bisect_right(keys[query], row_key)
        if low < high and not resolved:
            equals[begin + low] += 1
        else:
            above[begin + query + high] += 1
    return True
