"""Functions that construct rankings and evaluate them: constructors alone do not look at the contents."""

from pathlib import Path

import rankgain as rg

METRICS = "ndcg", "dcg@2", "rr"


def evaluated(constructor, name):
    """The constructor and `evaluate` in one call."""

    def call(*args, metrics=METRICS, threads=1, **options):
        return constructor(*args, **options).evaluate(*metrics, threads=threads)

    call.__name__ = name
    return call


def read_lines(qrels, run, **options):
    """`read_trec` of these lines, in files of the current folder."""
    paths = Path("qrels.txt"), Path("run.txt")
    for path, lines in zip(paths, (qrels, run), strict=True):
        path.write_bytes(lines)
    return rg.read_trec(*paths, **options)


evaluate_ranked = evaluated(rg.from_ranked, "evaluate_ranked")
evaluate_scores = evaluated(rg.from_scores, "evaluate_scores")
evaluate_qrels = evaluated(rg.from_qrels, "evaluate_qrels")
evaluate_frames = evaluated(rg.from_frames, "evaluate_frames")
evaluate_recommendations = evaluated(rg.from_recommendations, "evaluate_recommendations")
evaluate_lines = evaluated(read_lines, "evaluate_lines")


def zeros_like(values):
    """Zeros in the shape of the values, as far as they have one; an iterator is not touched."""
    try:
        len(values)
        return [[0] * len(row) for row in values]
    except TypeError:
        return [0] * getattr(values, "size", len(values) if isinstance(values, (list, tuple)) else 1)


def ndcg_of_judged(judged):
    return rg.ndcg(zeros_like(judged), judged=judged)


def evaluate_ranked_of_judged(judged):
    return evaluate_ranked(zeros_like(judged), judged=judged)


def evaluate_scores_of_judged(judged):
    return evaluate_scores(zeros_like(judged), zeros_like(judged), judged=judged)


def evaluate_scores_of_labels(y_true):
    return evaluate_scores(y_true, zeros_like(y_true))


def evaluate_scores_of_scores(y_score):
    return evaluate_scores(zeros_like(y_score), y_score)


THRESHOLDED = [rg.precision, rg.recall, rg.average_precision, rg.hit_rate]
FUNCTIONS = [rg.cg, rg.dcg, rg.ndcg, rg.mean_ndcg, rg.reciprocal_rank, rg.mrr, *THRESHOLDED]  # of relevance
OF_ONE_ARGUMENT = {  # functions by the argument in which they take lists of numbers
    "relevance": [*FUNCTIONS, evaluate_ranked],
    "judged": [rg.idcg, ndcg_of_judged, evaluate_ranked_of_judged, evaluate_scores_of_judged],
    "y_true": [evaluate_scores_of_labels],
    "y_score": [evaluate_scores_of_scores],
}
