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
