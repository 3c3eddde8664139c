"""The specification: scores and grades to the hits and judged grades of a Batch, in plain Python.

The compiled half is `_ordering`; the contract is that of `_reference`.
"""

import math
from itertools import groupby

from rankgain._codes import INFINITE_GRADE, LARGE_GRADE, NAN_GRADE, NAN_SCORE, NEGATIVE_GRADE


def use_cpu(level):
    """The level of CPU that the loops are for: plain Python has none."""
    return None


def _fault(grade, exponential=False):
    """The code of what is wrong with a grade, or 0."""
    if grade != grade:
        return NAN_GRADE
    if math.isinf(grade):
        return INFINITE_GRADE
    if grade < 0.0:
        return NEGATIVE_GRADE
    return LARGE_GRADE if exponential and grade >= 1024.0 else 0


def first_fault(grades, exponential=False):
    for position, grade in enumerate(grades):
        code = _fault(grade, exponential)
        if code:
            return code, 0, position
    return None


def grade_fault(grades, offsets):
    """The first offence among the grades, or None."""
    grades, offsets = memoryview(grades), memoryview(offsets)
    for query in range(len(offsets) - 1):
        fault = first_fault(grades[offsets[query] : offsets[query + 1]])
        if fault:
            return fault[0], query, fault[2]
    return None


def hits_ranked(grades, offsets, depth, zeros, hit_offsets, hit_grade, hit_rank):
    """The hits of lists in rank order: grades above 0, or with `zeros` all, at ranks ≤ depth.

    What is wrong with grades, `grade_fault` and `judged_grades` say.
    """
    grades, offsets = memoryview(grades), memoryview(offsets)
    count = 0
    hit_offsets[0] = 0
    for query in range(len(offsets) - 1):
        ranking = grades[offsets[query] : offsets[query + 1]]
        for rank, grade in enumerate(ranking[: min(depth, len(ranking))], 1):
            if grade > 0 or zeros:
                hit_grade[count], hit_rank[count] = grade, rank
                count += 1
        hit_offsets[query + 1] = count


def hits_scored(scores, grades, offsets, depth, zeros, stable, hit_offsets, hit_grade, hit_first, hit_last):
    """The hits of scored documents, each with the ranks of its tie group; `stable`: ties are in input order.

    A group that starts at or before the depth is carried whole. Inside it hits stand by grade, highest first. A score
    that is NaN is the only offence: what is wrong with grades, `grade_fault` and `judged_grades` say.
    """
    scores, grades, offsets = memoryview(scores), memoryview(grades), memoryview(offsets)
    count = 0
    hit_offsets[0] = 0
    for query in range(len(offsets) - 1):
        documents = range(offsets[query], offsets[query + 1])
        for position, index in enumerate(documents):
            if scores[index] != scores[index]:
                return NAN_SCORE, query, position
        order = sorted(documents, key=lambda index: -float(scores[index]))
        ranked = [float(grades[index]) for index in order]
        below = -1.0 if zeros else 0.0
        for grade, first, last in place([float(scores[i]) for i in order], ranked, depth, below, stable):
            hit_grade[count], hit_first[count], hit_last[count] = grade, first, last
            count += 1
        hit_offsets[query + 1] = count
    return None


def place(scores, grades, depth, below, resolved):
    """Yield (grade, first, last) for each hit of one query, whose documents come highest score first.

    A hit has a grade above `below`, not None. `resolved`: ties stand in the order given, each document on its own.
    """
    rank = 1
    for _, group in groupby(range(len(scores)), key=lambda index: index if resolved else scores[index]):
        if rank > depth:
            return
        members = [grades[index] for index in group]
        last = rank + len(members) - 1
        hits = [grade for grade in members if grade is not None and grade > below]
        for grade in sorted(hits, reverse=True):
            yield grade, rank, last
        rank = last + 1


def judged_grades(grades, offsets, depth, judged_offsets, judged_grade, judged_count):
    """The `depth` highest grades of each list, −0.0 as 0.0: distinct, highest first, with the number of each."""
    grades, offsets = memoryview(grades), memoryview(offsets)
    count = 0
    judged_offsets[0] = 0
    fault = grade_fault(grades, offsets)
    if fault:
        return fault
    for query in range(len(offsets) - 1):
        judged = (float(grade) + 0.0 for grade in grades[offsets[query] : offsets[query + 1]])
        for grade, same in groupby(sorted(judged, reverse=True)[: min(depth, offsets[query + 1] - offsets[query])]):
            judged_grade[count], judged_count[count] = grade, len(list(same))
            count += 1
        judged_offsets[query + 1] = count
    return None
