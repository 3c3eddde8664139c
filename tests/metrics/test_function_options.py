"""Functions on relevance in rank order agree with textbook.py for single options and combinations of options."""

import math
from array import array

import numpy as np
import pytest
from support import textbook
from support.effects import UNCHANGED

import rankgain as rg

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
    "empty": [1.0, 0.25, math.nan],
    "rel": [2, 0, np.float32(1.5)],
}
# Options that are combined with the tested option. Tables and vectors of gains or discounts are handled by the engine
# rather than by kernels.
OTHERS = [
    {}, {"gain": "exponential"}, {"discount": "zipf"}, {"gain": BY_GRADE}, {"gain": double}, {"k": 3},
    {"discount": [1.0, 0.5, 0.25, 0.125]}, {"gain": fall, "discount": [1.0, 0.5, 0.25, 0.125]},
]  # fmt: skip
FUNCTIONS = {  # by function: the name of the definition in textbook.py, and the options
    "cg": ("cg", ["k", "gain"]),
    "dcg": ("dcg", ["k", "gain", "discount"]),
    "idcg": ("idcg", ["k", "gain", "discount"]),
    "ndcg": ("ndcg", ["k", "gain", "discount", "ideal", "empty"]),
    "mean_ndcg": ("ndcg", ["k", "gain", "discount", "ideal", "empty"]),
    "reciprocal_rank": ("rr", ["k", "rel"]),
    "mrr": ("rr", ["k", "rel"]),
    "precision": ("precision", ["k", "rel"]),
    "recall": ("recall", ["k", "rel"]),
    "average_precision": ("ap", ["k", "rel"]),
    "hit_rate": ("success", ["k", "rel"]),
}
TAKE_JUDGED = ["ndcg", "mean_ndcg", "precision", "recall", "average_precision", "hit_rate"]
MEANS = ["mean_ndcg", "mrr"]


def forms(rows):
    """Return the rows as lists and as a float32 array, since each form has separate code."""
    return rows, np.array(rows, "f4")


def expected(call, lists, judged, **options):
    """Return the values defined in textbook.py for each query, or their mean over the queries that count."""
    if isinstance(options.get("gain"), np.ndarray):
        options["gain"] = options["gain"].tolist()
    lists = judged if call == "idcg" else lists
    definition = textbook.definition(FUNCTIONS[call][0])
    values = [definition(row, grades, **options) for row, grades in zip(lists, judged, strict=True)]
    counted = [value for value in values if not math.isnan(value)]
    return math.fsum(counted) / len(counted) if call in MEANS else values


def others(call):
    """Yield combinations of other options that the call takes, each with the judged grades or None."""
    for options in OTHERS:
        if {*options} <= {*FUNCTIONS[call][1]}:
            yield options, None
            if call in TAKE_JUDGED:
                yield options, JUDGED


def marked(pairs):
    return [pytest.param(call, option, marks=pytest.mark.options(call, option)) for call, option in pairs]


@pytest.mark.parametrize(
    ("call", "option"), marked((call, option) for call, (_, options) in FUNCTIONS.items() for option in options)
)
def test_functions_apply_an_option(check_option, call, option):
    function = getattr(rg, call)
    for given, judged in others(call):
        if option in given or (option == "ideal" and judged is None):
            continue
        sets = LISTS if judged is None else judged
        usual = expected(call, LISTS, sets, **given)
        for value in VALUES[option]:
            values = expected(call, LISTS, sets, **given, **{option: value})
            if values == usual:  # the option makes no difference here
                continue
            beside = {} if judged is None else {"judged": judged}
            for lists in forms(LISTS):
                check_option(function, option, value, values, lists, **beside, **given)
            for query in range(0 if call in MEANS else len(LISTS)):  # a single list
                if values[query] != usual[query]:
                    beside = {} if judged is None else {"judged": judged[query]}
                    for row in forms(LISTS[query]):
                        check_option(function, option, value, values[query], row, **beside, **given)


@pytest.mark.parametrize(("call", "option"), marked((call, "judged") for call in TAKE_JUDGED))
def test_functions_apply_judged_grades(check_option, call, option):
    for given, judged in others(call):
        if judged is not None:
            values = expected(call, LISTS, judged, **given)
            same = values == expected(call, LISTS, LISTS, **given)  # the function does not depend on the judged grades
            for grades in forms(judged):
                check_option(getattr(rg, call), option, grades, UNCHANGED if same else values, LISTS, **given)


@pytest.mark.parametrize(("call", "option"), marked((call, "mask") for call in FUNCTIONS))
def test_functions_leave_out_masked_positions(check_option, call, option):
    function = getattr(rg, call)
    for given, judged in others(call):
        beside = {} if judged is None else {"judged": judged}
        values = expected(call, LISTS, judged or LISTS, **given)
        for padded in forms(PADDED):
            for mask in (MASK, np.array(MASK)):
                if given.get("gain") != BY_GRADE:  # BY_GRADE has no entry for the grade 9
                    check_option(function, option, mask, values, padded, **beside, **given)
    if call not in MEANS:
        (value,) = expected(call, LISTS[1:2], LISTS[1:2])
        for padded in (array("d", PADDED[1]), PADDED[1]):
            check_option(function, option, MASK[1], value, padded)


@pytest.mark.options("gain", "kind")
def test_gain_applies_a_kind(check_option):
    for kind in VALUES["gain"]:
        definition = kind.tolist() if isinstance(kind, np.ndarray) else kind
        values = [[textbook.gain(grade, definition) for grade in row] for row in LISTS]
        for lists in forms(LISTS):
            check_option(rg.gain, "kind", kind, values, lists)
        check_option(rg.gain, "kind", kind, values[0], LISTS[0])


@pytest.mark.options("discount", "kind")
def test_discount_applies_a_kind(check_option):
    for kind in VALUES["discount"]:
        check_option(rg.discount, "kind", kind, [textbook.discount(rank, kind) for rank in (1, 2, 3)], 3)
