"""The specification: every kernel over lines of TREC files, in plain Python. The compiled half is
`_compiled/lines.pyx`.

What is wrong comes back as (code, line, field), both from 0.
"""

from bisect import bisect_left, bisect_right
from typing import Any

from rankgain._codes import DOCID, FEW_FIELDS, INFINITE_GRADE, NAN_GRADE, NAN_SCORE, NOT_A_NUMBER, STABLE
from rankgain.errors import ErrorCode
from rankgain.scalars import Bytes, Ints, decimal

# Of a block: data, starts, ends, values, hashes, runs. Of lists of hits: data, starts, ends, offsets, grades, slots,
# scores, orders, held, hits, keys, above, equals, ties.
Buffers = tuple[Any, ...]

UNSEEN, MATCHED = -2, -1  # a query that no line was matched with, and one whose hits are not arranged yet


def scan_run(block: Buffers, totals: Ints) -> ErrorCode:
    """Read lines `query Q0 document rank score tag`: where each document stands, and its score.

    A block is the bytes and what takes these: starts and ends of documents, scores, hashes of documents that hold for
    as long as the process, and runs. `runs` takes five
    numbers for each run of rows with one query: its first row, where the query's id starts and ends, where its first
    line starts, and which line that is. `totals` takes the numbers of rows, runs and lines. A line that is blank or
    begins with # is none.
    """
    return _scan(block, totals, 6, 4, grades=False)


def scan_qrels(block: Buffers, totals: Ints) -> ErrorCode:
    """Read lines `query iteration document grade`, as `scan_run` does."""
    return _scan(block, totals, 4, 3, grades=True)


def _scan(block, totals, wanted, value_field, *, grades):
    data, document_start, document_end, value, hashes, runs = block
    data = bytes(data)
    rows = count = 0
    at = 0
    before = None
    lines = data.split(b"\n")
    if not lines[-1]:
        lines.pop()
    for number, line in enumerate(lines):
        fields = line.split()
        if fields and not fields[0].startswith(b"#"):
            if len(fields) != wanted:
                return FEW_FIELDS, number, len(fields)
            found = decimal(fields[value_field])
            if found is None:
                return NOT_A_NUMBER, number, value_field
            if found != found:
                return (NAN_GRADE if grades else NAN_SCORE), number, value_field
            if grades and found in (float("inf"), float("-inf")):
                return INFINITE_GRADE, number, value_field
            starts = []
            end = 0
            for field in fields[:3]:
                starts.append(line.index(field, end))
                end = starts[-1] + len(field)
            if fields[0] != before:
                query = at + starts[0]
                runs[5 * count : 5 * count + 5] = (rows, query, query + len(fields[0]), at, number)
                before = fields[0]
                count += 1
            document_start[rows] = at + starts[2]
            document_end[rows] = document_start[rows] + len(fields[2])
            value[rows] = found
            hashes[rows] = hash(fields[2])
            rows += 1
        at += len(line) + 1
    totals[0], totals[1], totals[2] = rows, count, len(lines)
    return None


def number_queries(
    data: Bytes, runs: Ints, names: Bytes, bounds: Ints, slots: Ints, known: int, numbers: Ints
) -> tuple[int, int]:
    """Number the query of each run in the order of first appearance: how many runs, and how many queries are known.

    `names` takes the ids that are new, one after the other, and `bounds` where each ends; both have room for all.
    `slots` is for the compiled half, which keeps its hash table there between calls; a dict needs none.
    """
    data, text = bytes(data), bytes(names)
    found = {text[bounds[number] : bounds[number + 1]]: number for number in range(known)}
    for index in range(len(numbers)):
        name = data[runs[5 * index + 1] : runs[5 * index + 2]]
        if name not in found:
            end = bounds[known] + len(name)
            names[bounds[known] : end] = memoryview(name)
            bounds[known + 1] = end
            found[name] = known
            known += 1
        numbers[index] = found[name]
    return len(numbers), known


def _rows(starts, runs, numbers):
    """The number of the query of each row."""
    begins = [*runs[::5], len(starts)]
    for index, number in enumerate(numbers):
        for row in range(begins[index], begins[index + 1]):
            yield row, number


def match_lines(block: Buffers, numbers: Ints, first: int, judged_of: Ints, sizes: Ints, lists: Buffers) -> None:
    """Find the judged documents among rows: `scores` and `orders` take their scores and their places in the run.

    A block is that of `scan_run`, cut to what it holds. `judged_of` says which query of the truth a number is, or −1;
    `first` is the place of the first row in the run; `sizes` counts the rows of each number. The lists hold the truth,
    ragged: ids, `offsets`, grades; then what is kept between calls: `slots`, for the compiled half; `scores`, NaN where
    a document is not returned, and `orders`; `held`, UNSEEN at first; what `count_lines` fills; and the policy for
    ties.
    """
    data, starts, ends, values, _, runs = block
    judged_data, judged_starts, judged_ends, offsets, _, _, scores, orders, held, *_ = lists
    data, judged = bytes(data), bytes(judged_data)
    known = {}
    for row, number in _rows(starts, runs, numbers):
        sizes[number] += 1
        query = judged_of[number]
        if query < 0:
            continue
        if query not in known:
            own = range(offsets[query], offsets[query + 1])
            known[query] = {judged[judged_starts[place] : judged_ends[place]]: place for place in own}
            held[query] = MATCHED
        place = known[query].get(data[starts[row] : ends[row]])
        if place is not None:
            scores[place], orders[place] = values[row], first + row


def count_lines(
    block: Buffers, numbers: Ints, first: int, judged_of: Ints, places: Ints, hashes: Ints, lists: Buffers
) -> bool:
    """Count the rows of queries, all of whose rows were matched, before their hits; False where they became more.

    `hashes` takes the hash of each row, where the next of its query goes, which `places` says.

    A hit is in the qrels, with any grade, and returned. `held` says how many hits a query has; `hits`, at its
    offset, which they are, in rank order. `above` counts the documents that come before the hit at a place but not
    before the one at the place before; a query has one place more than judged documents. Documents that tie with hits
    under a policy that does not part them are counted by `equals`, at the place of the first of those hits.
    """
    data, starts, ends, values, own_hashes, runs = block
    judged_data, judged_starts, judged_ends, offsets, grades, _, scores, orders, held, hits, _, above, equals, ties = (
        lists
    )
    data, judged = bytes(data), bytes(judged_data)
    resolved = ties in (DOCID, STABLE)

    def key(score, identifier, order):
        """What grows in rank order."""
        if ties == DOCID:
            return -score, [-byte for byte in identifier] + [1]  # what goes on is higher
        return -score, order if ties == STABLE else 0

    def key_of(place):
        return key(scores[place], judged[judged_starts[place] : judged_ends[place]], orders[place])

    known = {}
    for row, number in _rows(starts, runs, numbers):
        identifier = data[starts[row] : ends[row]]
        if places[number] == len(hashes):
            return False
        hashes[places[number]] = own_hashes[row]
        places[number] += 1
        query = judged_of[number]
        if query < 0:
            continue
        begin = offsets[query]
        if held[query] < 0:
            own = range(begin, offsets[query + 1])
            found = [place for place in own if scores[place] == scores[place]]
            found.sort(key=lambda place: (key_of(place), -grades[place]))
            held[query] = len(found)
            hits[begin : begin + len(found)] = found
        if query not in known:
            known[query] = [key_of(place) for place in hits[begin : begin + held[query]]]
        own = key(values[row], identifier, first + row)
        low, high = bisect_left(known[query], own), bisect_right(known[query], own)
        if low < high and not resolved:
            equals[begin + low] += 1
        else:
            above[begin + query + high] += 1
    return True
