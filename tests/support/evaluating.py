"""Functions that construct rankings and evaluate them, because constructors alone do not check the contents."""

from pathlib import Path

import rankgain as rg

METRICS = "ndcg", "dcg@2", "rr"


def evaluated(constructor, name):
    """Return a function that calls the constructor and then `evaluate`."""

    def call(*args, metrics=METRICS, threads=1, **options):
        return constructor(*args, **options).evaluate(*metrics, threads=threads)

    call.__name__ = name
    return call


def read_lines(qrels, run, **options):
    """Write the lines to files in the current folder, and call `read_trec` on these files."""
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
    """Return zeros with the shape of the values, without consuming an iterator."""
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
FUNCTIONS = [rg.cg, rg.dcg, rg.ndcg, rg.mean_ndcg, rg.reciprocal_rank, rg.mrr, *THRESHOLDED]  # these take `relevance`
OF_ONE_ARGUMENT = {  # functions by the name of the argument that takes lists of numbers
    "relevance": [*FUNCTIONS, evaluate_ranked],
    "judged": [rg.idcg, ndcg_of_judged, evaluate_ranked_of_judged, evaluate_scores_of_judged],
    "y_true": [evaluate_scores_of_labels],
    "y_score": [evaluate_scores_of_scores],
}
