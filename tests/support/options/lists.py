"""Options of the functions on relevance in rank order."""

import math
from array import array

import numpy as np
from support import textbook
from support.cases import SAME, Option

nan = math.nan
LISTS, JUDGED = [[0, 2, 1], [0, 0, 0], [1, 0, 2]], [[0, 2, 1, 2], [0, 0, 0, 0], [1, 0, 2, 1]]
PADDED = [[9, 0, 9, 2, 1], [0, 0, 9, 9, 0], [1, 0, 9, 2, 9]]
MASK = [[False, True, False, True, True], [True, True, False, False, True], [True, True, False, True, False]]
BY_GRADE = {1: 1, 2: 7}


def double(grades):
    return 2.0 * grades


def fall(grades):
    return 4.0 - grades


VALUES = {
    "k": [1, 2, np.int64(1)],
    "gain": ["exponential", "binary", BY_GRADE, [0, 1, 7], np.array([0, 1, 7]), double, fall],
    "discount": ["zipf", "jarvelin:2", [1.0, 0.75, 0.25, 0.125], np.array([1.0, 0.75, 0.25, 0.125], "f4")],
    "ideal": ["returned"],
    "empty": [1.0, 0.25, nan],
    "rel": [2, 0, np.float32(1.5)],
}
# What else is given: kernels know the gains and discounts of the first, a table or vector takes the engine.
WAYS = [
    {}, {"gain": "exponential"}, {"discount": "zipf"}, {"gain": BY_GRADE}, {"gain": double}, {"k": 3},
    {"discount": [1.0, 0.5, 0.25, 0.125]}, {"gain": fall, "discount": [1.0, 0.5, 0.25, 0.125]},
]  # fmt: skip
TAKEN = {  # and the function of the textbook
    "cg": ("cg", "k gain"),
    "dcg": ("dcg", "k gain discount"),
    "idcg": ("idcg", "k gain discount"),
    "ndcg": ("ndcg", "k gain discount ideal empty"),
    "mean_ndcg": ("ndcg", "k gain discount ideal empty"),
    "reciprocal_rank": ("rr", "k rel"),
    "mrr": ("rr", "k rel"),
    "precision": ("precision", "k rel"),
    "recall": ("recall", "k rel"),
    "average_precision": ("ap", "k rel"),
    "hit_rate": ("success", "k rel"),
}
UNJUDGED = {"cg", "dcg", "idcg", "reciprocal_rank", "mrr"}  # take no judged set
MEANS = {"mean_ndcg", "mrr"}


def forms(rows):
    """Lists of one length in each form that has code of its own."""
    return rows, np.array(rows, "f4")


def expected(call, lists, judged, **options):
    """By the textbook, query by query, or the mean of those that count."""
    kind = options.get("gain")
    if isinstance(kind, np.ndarray):
        options["gain"] = kind.tolist()
    definition = textbook.definition(TAKEN[call][0])
    if call == "idcg":
        lists, judged = judged, judged
    values = [definition(row, own, **options) for row, own in zip(lists, judged, strict=True)]
    counted = [value for value in values if not math.isnan(value)]
    return math.fsum(counted) / len(counted) if call in MEANS else values


def rows():
    for call, (_, taken) in TAKEN.items():
        argument = "judged" if call == "idcg" else "relevance"
        ways = [way for way in WAYS if set(way) <= set(taken.split())]
        judged_sets = [None] if call in UNJUDGED else [None, JUDGED]
        for way in ways:
            for judged in judged_sets:
                own = LISTS if judged is None else judged
                beside = {} if judged is None else {"judged": judged}
                for option in taken.split():
                    if option in way or (option == "ideal" and judged is None):
                        continue
                    for value in VALUES[option]:
                        due = expected(call, LISTS, own, **way, **{option: value})
                        if due == expected(call, LISTS, own, **way):  # as where a gain falls, and nothing is empty
                            continue
                        for given in forms(LISTS):
                            yield Option(call, option, value, due, **{argument: given}, **beside, **way)
                        if call not in MEANS:
                            yield from alone(call, option, value, own, beside, way, due)
                if judged is not None:
                    due = expected(call, LISTS, judged, **way)
                    due = SAME if due == expected(call, LISTS, LISTS, **way) else due  # no R in it
                    for known in forms(judged):
                        yield Option(call, "judged", known, due, relevance=LISTS, **way)
                due = expected(call, LISTS, own, **way)
                for padded in forms(PADDED):
                    for mask in (MASK, np.array(MASK)):
                        if way.get("gain") != BY_GRADE:  # by which 9 is worth nothing
                            yield Option(call, "mask", mask, due, **{argument: padded}, **beside, **way)
        if call not in MEANS:  # of one list alone
            one = expected(call, LISTS[1:2], LISTS[1:2])[0]
            for padded in (array("d", PADDED[1]), PADDED[1]):
                yield Option(call, "mask", MASK[1], one, **{argument: padded})
    for kind in VALUES["gain"]:
        due = [
            [textbook.gain(grade, getattr(kind, "tolist", lambda kind=kind: kind)()) for grade in row] for row in LISTS
        ]
        for given in forms(LISTS):
            yield Option("gain", "kind", kind, due, relevance=given)
        yield Option("gain", "kind", kind, due[0], relevance=LISTS[0])
    for kind in VALUES["discount"]:
        yield Option("discount", "kind", kind, [textbook.discount(rank, kind) for rank in (1, 2, 3)])


def alone(call, option, value, judged, beside, way, due):
    """The same of each list alone, where the option matters to it."""
    argument = "judged" if call == "idcg" else "relevance"
    without = expected(call, LISTS, judged, **way)
    for query, (found, usual) in enumerate(zip(due, without, strict=True)):
        if found != usual:
            known = {name: held[query] for name, held in beside.items()}
            for given in forms(LISTS[query]):
                yield Option(call, option, value, found, **{argument: given}, **known, **way)
