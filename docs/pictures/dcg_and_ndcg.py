"""Draw docs/_static/dcg-and-ndcg.svg: DCG and nDCG of two short lists by the cut-off, with three ideals.

python docs/pictures/dcg_and_ndcg.py
"""

from pathlib import Path

import matplotlib
import numpy as np

import rankgain as rg

matplotlib.use("svg")
import matplotlib.pyplot as plt

JUDGED = [3, 3, 2, 2, 1, 1, 0]  # A to G
LISTS = {"A, E, C, D, F": [3, 1, 2, 2, 1], "A, B, C, G, E": [3, 3, 2, 0, 1]}
KS = np.arange(1, 8)
OUT = Path(__file__).parents[1] / "_static" / "dcg-and-ndcg.svg"


def main() -> None:
    plt.rcParams |= {"svg.hashsalt": "rankgain", "font.size": 10, "axes.spines.top": False, "axes.spines.right": False}
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained", sharex=True)
    for (name, grades), color in zip(LISTS.items(), ("#0b5394", "#a64d00"), strict=True):
        left.plot(KS, [rg.dcg(grades, k=int(k)) for k in KS], marker="o", color=color, label=name)
        right.plot(KS, [rg.ndcg(grades, k=int(k), judged=JUDGED) for k in KS], marker="o", color=color, label=name)
    left.plot(KS, [rg.idcg(JUDGED, k=int(k)) for k in KS], color="#444444", linestyle="--", label="ideal")
    first = LISTS["A, E, C, D, F"]
    cut = [rg.ndcg(first, k=int(k), judged=JUDGED, ideal="returned") for k in KS]
    own = [rg.ndcg(first, k=int(k)) for k in KS]
    right.plot(KS, cut, color="#0b5394", linestyle=":", label="A, E, C, D, F: ideal cut at its 5 documents")
    right.plot(KS, own, color="#0b5394", linestyle="--", label="A, E, C, D, F: ideal of its own grades")
    left.set(title="DCG", xlabel="cut-off k", ylim=(0, 8.5))
    right.set(title="nDCG", xlabel="cut-off k", ylim=(0.6, 1.02))
    left.legend(frameon=False, loc="upper left")
    right.legend(frameon=False, loc="lower right", fontsize=8)
    figure.savefig(OUT, metadata={"Date": None}, facecolor="white")


if __name__ == "__main__":
    main()
