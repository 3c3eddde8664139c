"""Tables of timings from bench/README.md, which docs/generate.py writes to README.md and docs/speed.md."""

import re
from collections.abc import Iterable, Iterator
from itertools import zip_longest
from pathlib import Path
from typing import NamedTuple

DOCS = Path(__file__).parent
BENCHES = DOCS.parent / "bench" / "README.md"


class Row(NamedTuple):
    """A comparison with another tool: labels for the page, and names of the case and contenders in the benches."""

    work: str
    other: str
    case: str
    contender: str
    ours: str = ""  # if empty, the first contender of the case


class Measured(NamedTuple):
    """The time of one contender, and the ratio of that time to the first contender's time."""

    time: str
    ratio: float


PLAIN = "one document in ten relevant"
RANKED = "ranked, 10,000 × 100"
GROUPS = "30,000 groups of 120"
FILES, FEW = "files, 200 queries × 1,000 lines, 50 judged", "files, 50 queries × 1,000 lines, 50 judged"
DICTS, JUDGED = "dicts, 700 queries × 1,000, 1 judged", "dicts, 50 queries × 1,000, 200 judged"
FRAME = "text ids, 700 queries × 1000"
USERS = "10000 users, 100 of 50,000 items, 20 held out, sparse"
SKLEARN, TORCH, ARGSORT = "scikit-learn ndcg_score", "torch topk and gather", "NumPy argsort and take_along_axis"
PARSERS, EVALUATE = "pytrec_eval with its parsers", "pytrec_eval evaluate(run)"
FROM_DICTS = "rankgain from_qrels, making the dicts"
LOOP = "a plain Python loop"

# The comparisons in the README and in the picture of speed-ups.
FRONT = [
    Row("nDCG@10 of scores, 10,000 × 100", "scikit-learn", f"10,000 × 100, ndcg@10, {PLAIN}", SKLEARN),
    Row("the same, 10 × 1,000,000", "scikit-learn", f"10 × 1,000,000, ndcg@10, {PLAIN}", SKLEARN),
    Row("nDCG@10 of 30,000 groups", "LightGBM", f"{GROUPS}, ndcg@10, float32 scores, {PLAIN}", "LightGBM's metric"),
    Row("nDCG@10, RR of dicts, 700 × 1000", "pytrec_eval", f"{DICTS}, shuffled", EVALUATE),
    Row("nDCG@10, RR of TREC files, 200 × 1000", "pytrec_eval", FILES, PARSERS),
    Row("the same, as a command", "trec_eval", f"{FILES}, ndcg_cut.10 and recip_rank, the program", "trec_eval"),
    Row("`RetrievalMRR`, 8000 × 40", "TorchMetrics", "RetrievalMRR, 8,000 × 40", "TorchMetrics"),
    Row("nDCG@100, RR, 10,000 users × 100", "implicit", USERS, "implicit, its four metrics"),
    Row("one query of 10 scores", "NumPy", "from_scores, 10 documents", "NumPy three lines"),
    Row("DCG@10 of ranked grades", "NumPy", f"{RANKED}, dcg@10", "NumPy relevance[:, :10] @ discounts"),
]
DROP_INS = [
    Row(
        "`rankgain.sklearn.ndcg_score` at 10, 10,000 × 100",
        "scikit-learn",
        FRONT[0].case,
        SKLEARN,
        "rankgain.sklearn ndcg_score",
    ),
    Row(
        "`rankgain.pytrec_eval`, BEIR's measures, 700 × 1000",
        "pytrec_eval",
        "pytrec_eval's drop-in, BEIR's measures, 700 queries × 1,000, 1 judged",
        EVALUATE,
    ),
    FRONT[6],
]


def of_scores(size: str, metric: str) -> Iterator[Row]:
    """Yield the comparisons with other tools for a matrix of scores."""
    for other, contender in (("scikit-learn", SKLEARN), ("torch `topk`", TORCH), ("NumPy argsort", ARGSORT)):
        if (contender, metric) != (SKLEARN, "ndcg"):
            yield Row(
                f"{metric.replace('ndcg', 'nDCG')} of scores, {size}", other, f"{size}, {metric}, {PLAIN}", contender
            )


def of_small_calls() -> Iterator[Row]:
    for documents in (10, 100):
        yield Row(
            f"`from_scores(…).evaluate`, one query of {documents}",
            "NumPy, three lines",
            f"from_scores, {documents} documents",
            "NumPy three lines",
        )
        yield Row(
            f"`from_qrels(…).evaluate`, one query of {documents}",
            LOOP,
            f"from_qrels, {documents} documents",
            "plain Python loop",
        )
        yield Row(
            f"`from_recommendations(…).evaluate`, one user, {documents} ids",
            LOOP,
            f"from_recommendations, {documents} ids",
            "plain Python loop",
        )
    for documents in (10, 100, 1000):
        case = f"pytrec_eval's drop-in, reused evaluator, ndcg_cut.10, {documents} documents"
        yield Row(
            f"`rankgain.pytrec_eval`, reused evaluator, one query of {documents}", "pytrec_eval", case, "pytrec_eval"
        )
    for documents in (10, 100):
        case = f"pytrec_eval's drop-in, new evaluator per call, ndcg, {documents} documents"
        yield Row(f"the same, new evaluator per call, {documents}", "pytrec_eval", case, "pytrec_eval")
    for documents in (10, 100):
        case = f"rankgain.sklearn.ndcg_score, a row of {documents}"
        yield Row(f"`rankgain.sklearn.ndcg_score`, a row of {documents}", "scikit-learn", case, "scikit-learn")


ALL = [
    *of_scores("10,000 × 100", "ndcg@10"),
    *of_scores("1,000 × 1,000", "ndcg@10"),
    *of_scores("10 × 1,000,000", "ndcg@10"),
    *of_scores("10,000 × 100", "ndcg"),
    *of_scores("10 × 1,000,000", "ndcg"),
    Row("nDCG, 10,000 × 100, all relevant", "NumPy argsort", "10,000 × 100, ndcg, every document relevant", ARGSORT),
    Row("DCG@10 of ranked grades, 10,000 × 100", "NumPy", f"{RANKED}, dcg@10", FRONT[9].contender),
    Row("the same, 1,000 × 1,000", "NumPy", "ranked, 1,000 × 1,000, dcg@10", FRONT[9].contender),
    Row("nDCG of ranked grades, 10,000 × 100", "NumPy", f"{RANKED}, ndcg", "NumPy sort and dot"),
    *(
        Row(f"{metric} of 30,000 groups of about 120", other, f"{GROUPS}, {name} scores, {PLAIN}", contender)
        for metric, name in (("nDCG@10", "ndcg@10, float32"), ("nDCG", "ndcg, float64"))
        for other, contender in (
            ("LightGBM", "LightGBM's metric"),
            ("XGBoost", "XGBoost's metric"),
            ("CatBoost", "CatBoost eval_metric"),
            ("ranx, of sorted lists", "ranx evaluate, of sorted lists"),
        )
    ),
    Row("nDCG@10, RR of dicts, 700 × 1000, in score order", "pytrec_eval", f"{DICTS}, in score order", EVALUATE),
    Row("the same, shuffled", "pytrec_eval", f"{DICTS}, shuffled", EVALUATE),
    Row("nDCG@10, RR of dicts, 50 × 1000, 200 judged", "pytrec_eval", f"{JUDGED}, in score order", EVALUATE),
    Row("the same, shuffled", "pytrec_eval", f"{JUDGED}, shuffled", EVALUATE),
    Row("nDCG@10, RR of TREC files, 200 × 1000", "pytrec_eval and its parsers", FILES, PARSERS),
    Row("the same, lines shuffled", "pytrec_eval and its parsers", f"{FILES}, lines scattered", PARSERS),
    Row("the same, gzip", "pytrec_eval and its parsers", f"{FILES}, gzip", PARSERS),
    Row("`rankgain trec_eval`, two measures, 200 × 1000", "trec_eval", FRONT[5].case, "trec_eval"),
    Row("`rankgain trec_eval -m all_trec`, 50 × 1000", "trec_eval", f"{FEW}, all_trec, the program", "trec_eval"),
    Row("nDCG@10, RR of a pandas frame, text ids, 700 × 1000", "making dicts first", f"pandas, {FRAME}", FROM_DICTS),
    Row("the same, ids as Python objects", "making dicts first", f"pandas, objects, {FRAME}", FROM_DICTS),
    Row("the same, polars", "making dicts first", f"polars, {FRAME}", FROM_DICTS),
    Row("nDCG@100, RR of 10,000 users × 100, matrix and CSR", "implicit", USERS, "implicit, its four metrics"),
    *(
        Row(
            f"the same, lists and sets of {words}",
            LOOP,
            f"10000 users, ids that are {kind}",
            "plain Python loop over lists and sets",
        )
        for words, kind in (("integers", "int"), ("text", "str"))
    ),
    *DROP_INS,
    Row(
        "`RetrievalHitRate`, `forward` of 4 × 10", "TorchMetrics", "RetrievalHitRate, forward of 4 × 10", "TorchMetrics"
    ),
    *of_small_calls(),
    Row("`rg.ndcg` of a list of 10", LOOP, "ndcg of a list of 10", "plain Python loop"),
    Row("`rg.ndcg` of an array of 10", "NumPy, three lines", "ndcg of an int64 array of 10", "NumPy three lines"),
    Row(
        "`import rankgain`, a new process",
        "`import numpy`",
        "start of a process",
        "import numpy",
        "rankgain, import rankgain",
    ),
]


def page_rows(page: Path, columns: int) -> Iterator[list[str]]:
    """Yield the rows of all tables with `columns` columns in a page, without markup; each line of a cell is a row."""
    for line in page.read_text(encoding="utf-8").splitlines():
        cells = [cell.replace("**", "").strip() for cell in line.strip("|").split("|")]
        if line.startswith("|") and len(cells) == columns:
            yield from map(list, zip_longest(*(cell.split("<br>") for cell in cells), fillvalue=""))


def measured() -> dict[str, dict[str, Measured]]:
    """Read bench/README.md; return the measurements of each case, keyed by contender."""
    cases: dict[str, dict[str, Measured]] = {}
    title = ""
    for case, contender, time, ratio, _ in page_rows(BENCHES, 5):
        title = re.sub("; at most .*", "", case) or title
        number = re.match(r"\d[\d.e+-]*", ratio)
        cases.setdefault(title, {})[contender] = Measured(time, float(number[0]) if number else 1.0)
    return cases


def times(row: Row, cases: dict[str, dict[str, Measured]]) -> tuple[str, float]:
    """Return the time that rankgain took, and the ratio of the other tool's time to it."""
    case = cases[row.case]
    ours = case[row.ours] if row.ours else next(iter(case.values()))
    return ours.time, case[row.contender].ratio / ours.ratio


def short(number: float) -> str:
    return f"{number:.0f}" if number >= 9.95 else f"{number:.1f}" if number >= 1 else f"{number:.2g}"


def table(head: str, rows: Iterable[Iterable[str]]) -> str:
    lines = [f"| {head} |", "|" + "---|" * (head.count("|") + 1)]
    return "\n".join([*lines, *(f"| {' | '.join(cells)} |" for cells in rows)])


def contests(which: str) -> str:
    """Return the table of comparisons with other tools, either only those in the README or all of them."""

    def cells(row: Row) -> tuple[str, ...]:
        took, ratio = times(row, cases)
        return row.work, row.other, short(ratio) if ratio > 1 else f"**{short(ratio)}**", took

    cases = measured()
    return table(
        "work | compared with | speed-up (below 1: slower) | rankgain takes",
        map(cells, {"front": FRONT, "all": ALL}[which]),
    )


def torch_classes() -> str:
    """Return a table of the ratio of TorchMetrics' time to rankgain's, for each class and kind of input."""

    def cells(name: str) -> Iterator[str]:
        yield f"`Retrieval{name}`"
        for variant in ("", ", shuffled", ", bfloat16 scores"):
            case = f"Retrieval{name}, 8,000 × 40{variant}"
            yield short(times(Row("", "", case, "TorchMetrics"), cases)[1])

    cases = measured()
    names = "NormalizedDCG", "MRR", "MAP", "Precision", "Recall", "RPrecision", "HitRate", "FallOut", "AUROC"
    return table("class | indexes sorted | shuffled | bfloat16 scores", map(cells, names))


def conditions() -> str:
    """Return the date, the versions and the machine of the measurements."""
    _, _, after = BENCHES.read_text(encoding="utf-8").partition("<!-- measured, written by bench/run.py --write -->\n")
    return f"Measured on {after.partition('|')[0].strip()}"
