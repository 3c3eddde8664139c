"""Draw qrels and run files of mostly valid lines, and read them in blocks of any size."""

from io import BytesIO
from unittest.mock import patch

from support.engine import found_in_rankings

import rankgain as rg
from rankgain import _backend
from rankgain.data import files as read_files

QUERIES = [b"a", b"b", b"c", b"q10", b"q1", b"q\xff", b"a#", "é".encode(), b"q" * 17]
DOCUMENTS = [b"d1", b"d2", b"d3", b"d10", b"d", b"D", b"\x80", b"e" * 8, b"e" * 9, b"e" * 40, b"0", "é".encode()]
NUMBERS = [b"0", b"1", b"2", b"1.0", b"-1", b"0.5", b".5", b"5.", b"1e0", b"3", b"+2", b"-0", b"4"]
ODD_NUMBERS = [b"nan", b"inf", b"-Infinity", b"x", b"1_0", b"1e400", b"1e-400", b"0.1", b"0.10000000000000000001",
               b"100000001490116119384765625e-27", b"9007199254740993", b"-", b".", b"\xd9\xa1", b"3.4e38", b"1e39",
               b"16777217", b"0.1000000015", b"123456789012345678901", b"0" * 41 + b"1"]  # fmt: skip
BLOCKS = [1 << 12, 17, 18, 24, 40, 64, 100, 200]
SPACES = [b" ", b"\t", b"  ", b"\r", b"\x0b", b"\x0c"]
ENDS = [b"\n", b"\n", b"\n", b"\r\n", b"\n\n", b"\n# b Q0 d1 1 1 t\n"]
ODD_ENDS = [b"", b"\n#", b" ", b" u\n", b"\r"]
TIES = ["docid", "average", "stable", "best", "worst"]


class Trickle:
    """A file that can be read only once and only in small pieces."""

    def __init__(self, data):
        self._left = BytesIO(data)

    def read(self, size=-1):
        return self._left.read(min(size, 30))


def text(draw, before, after):
    """Draw lines with the fields `before` and `after` the document id."""

    def line(draw):
        query, document, number = draw.of(QUERIES), draw.of(DOCUMENTS), draw.mostly(NUMBERS, ODD_NUMBERS, often)
        space, end = draw.mostly(SPACES[:1], SPACES, 32), draw.mostly(ENDS, ODD_ENDS, often)
        if (query, document) in seen and draw.below(256) >= often:
            return b""
        seen.add((query, document))
        return space.join([query, before, document, *after, number, *[b"t"] * len(after)]) + end

    often, seen = draw.mostly([0], [8], 64), set()
    return b"".join(draw.many(line, 16))


def call(draw):
    block, ties, missing = draw.of(BLOCKS), draw.of(TIES), draw.of(["zero", "skip"])
    score_bits, carrier = draw.of([64, 32]), draw.of([BytesIO, BytesIO, BytesIO, Trickle])
    qrels = text(draw, b"0", [])
    run = text(draw, b"Q0", [b"1"])

    def seen():
        with patch.object(read_files, "BLOCK", block):
            rankings = rg.read_trec(carrier(qrels), carrier(run), ties=ties, missing=missing, score_bits=score_bits)
        return list(rankings.query_ids), rankings.left_out, found_in_rankings(_backend.walk, rankings)

    return seen
