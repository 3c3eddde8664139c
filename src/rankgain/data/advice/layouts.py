"""Name the formats and layouts of files that are no TREC files, and say how to pass what they hold."""

from __future__ import annotations

import re

# Formats that are recognised by the first bytes: a pattern, and the end of the error.
_FORMATS = (
    (rb"PK\x03\x04.{26}(?:\[Content_Types\]|_rels/|docProps/|xl/)", "an Excel workbook: pass pandas.read_excel(path)"),
    (rb"PK\x03\x04.{26}[^\n]{0,80}\.npy", "a NumPy archive: pass an array of numpy.load(path)"),
    (rb"PK\x03\x04", "a zip archive: extract the file"),
    (rb"PAR1[\0-\x08\x0e-\x1f]", "a parquet table: pass it to rankgain.evaluate or rankgain.from_frames"),
    (rb"ARROW1\0", "an Arrow table: pass it to rankgain.evaluate or rankgain.from_frames"),
    (rb"\xff\xfe|\xfe\xff", "UTF-16 text: convert it to UTF-8, as by iconv -f UTF-16 -t UTF-8"),
    (
        rb"(?:[^\s,]+,[ \t]+){3,5}[^\s,]+\s*(?:\n|$)",
        "text with commas between its fields: write blanks, as by tr -s ', ' ' '",
    ),
    (rb"\x93NUMPY", "a NumPy array: pass numpy.load(path)"),
    (rb"\x80[\x02-\x05]", "a pickle: pass pickle.load(open(path, 'rb')), if you trust its source"),
    (rb"version https://git-lfs", "a pointer of Git LFS instead of the file: download that with git lfs pull"),
    (rb"(?i)\s*<(?:!doctype\s+html|html|head|body)\b", "an HTML page instead of the file: download the raw file"),
)


DECIMAL_COMMA = "a number has a decimal comma: write a point, as by tr ',' '.'"


def format_advice(begins: bytes) -> str:
    """Return what a file is, and how to pass it, if its first bytes show a format that is not supported."""
    return next((advice for magic, advice in _FORMATS if re.match(magic, begins, re.DOTALL)), "")


def frame_advice(path: str, names: str, more: str = "") -> str:
    """Return how to pass a file as a frame. `names`: the names of its columns. `more`: the end of the expression."""
    listed = ", ".join(map(repr, names.split()))
    return f"pass pandas.read_csv({path!r}, sep=r'\\s+', names=[{listed}]){more} to rankgain.evaluate or from_frames"


def layout_advice(path: str, line: bytes, *, of_run: bool, is_first: bool) -> str:
    """Return the end of an error about a line, if it shows another common layout.

    `is_first`: whether the line is the first one, so that no other line had the expected number of fields.
    """
    if b"\r" in line.rstrip(b"\r\n"):
        return "the lines end with CR alone: convert them, as by tr '\\r' '\\n'"
    fields = line.split()
    if len(fields) > 1 and fields[1].startswith(b"qid:"):
        return (
            "the file has labels and features, as LETOR, but no scores: read it with "
            "sklearn.datasets.load_svmlight_file(path, query_id=True), and pass the labels, the scores of your model "
            "and the query ids to rankgain.from_scores(labels, scores, qid=qid)"
        )
    if len(fields) > 2 and any(re.fullmatch(rb"-?\d+,\d+", field) for field in fields[3:]):
        return DECIMAL_COMMA
    parts = line.split(b",")
    if len(parts) in (4, 6) and parts[3].strip().isdigit():
        return "the fields are separated by commas, and the file has no header: write blanks, as by tr -s ', ' ' '"
    if of_run and len(fields) == 4 and fields[2].isdigit() and b"." in fields[3]:
        return f"if it is a ranking that ColBERT wrote, {frame_advice(path, 'query_id doc_id rank score')}"
    if not all(map(bytes.isdigit, fields)) or len(fields) < 2 or (of_run and len(fields) == 4):
        return ""
    if len(fields) == 2:
        return f"if it has interactions, as SASRec reads them, {frame_advice(path, 'user_id item_id')}"
    if len(fields) == 3 and is_first:
        return f"if it has ratings, {frame_advice(path, 'user_id item_id rating')}"
    return (
        "if it has a list of items per user, as LightGCN reads them, pass "
        f"{{user: items for user, *items in map(str.split, pathlib.Path({path!r}).read_text().splitlines())}}"
    )
