"""LensKit and sentence-transformers beside us, with the tools themselves: run by `.ci/deep clients`.

They want torch, and so have an environment of their own. No model is loaded: one that has `encode` stands in for it.
"""

import numpy as np
from lenskit.data import ItemList, ItemListCollection
from lenskit.metrics import RunAnalysis
from lenskit.metrics.ranking import NDCG, Hit, Precision, Recall, RecipRank
from sentence_transformers.sentence_transformer.evaluation import InformationRetrievalEvaluator
from sentence_transformers.util import cos_sim

import rankgain as rg

K = 5


def check_lenskit() -> None:
    """A user whom the run lacks and an empty list among them: LensKit's mean is over the lists of the run."""
    rng = np.random.default_rng(1)
    run = {user: rng.permutation(30)[:8].tolist() for user in range(40) if user != 7}
    run[9] = []
    truth = {user: rng.permutation(30)[: rng.integers(1, 6)].tolist() for user in range(40)}
    asked = {f"ndcg@{K}": NDCG(K), f"rr@{K}": RecipRank(K), f"success@{K}": Hit(K), f"recall@{K}": Recall(K)}
    check_means(truth, run, asked)
    del run[9]  # whose precision is NaN there, which their mean leaves out
    check_means(truth, run, {"precision": Precision()})


def check_means(truth: dict[int, list[int]], run: dict[int, list[int]], asked: dict[str, object]) -> None:
    both = (
        ItemListCollection.from_dict({user: ItemList(own, ordered=True) for user, own in side.items()}, "user_id")
        for side in (run, truth)
    )
    analysis = RunAnalysis()
    for metric in asked.values():
        analysis.add_metric(metric)
    theirs = analysis.measure(*both).list_summary()["mean"]
    ours = rg.evaluate(truth, run, *asked, like="lenskit")
    for name, value in zip(asked, theirs, strict=True):
        assert np.isclose(ours.mean(name), value, rtol=1e-6), (name, ours.mean(name), value)


class Model:
    """What the evaluator asks of a model."""

    similarity_fn_name = "cosine"
    model_card_data = None

    def __init__(self, vectors: dict[str, np.ndarray]) -> None:
        self.vectors = vectors

    def encode(self, texts: list[str], **options: object) -> np.ndarray:
        return np.stack([self.vectors[text] for text in texts])

    encode_query = encode_document = encode

    def similarity(self, queries: np.ndarray, documents: np.ndarray) -> object:
        return cos_sim(queries, documents)


def check_sentence_transformers() -> None:
    rng = np.random.default_rng(2)
    corpus = {f"d{number}": f"document {number}" for number in range(200)}
    queries = {f"q{number}": f"query {number}" for number in range(20)}
    truth = {query: {*rng.choice([*corpus], rng.integers(1, 9), replace=False)} for query in queries}
    model = Model({text: rng.normal(size=16).astype(np.float32) for text in [*corpus.values(), *queries.values()]})
    evaluator = InformationRetrievalEvaluator(
        queries,
        corpus,
        truth,
        ndcg_at_k=[10],
        mrr_at_k=[10],
        map_at_k=[100],
        accuracy_at_k=[3],
        precision_recall_at_k=[5],
        show_progress_bar=False,
        write_csv=False,
    )
    evaluator.store_metrics_in_model_card_data = lambda *_: None  # a model of theirs has one
    theirs = evaluator(model)
    scores = cos_sim(*(np.stack([model.vectors[text] for text in side.values()]) for side in (queries, corpus))).numpy()
    run = {query: dict(zip(corpus, own.tolist(), strict=True)) for query, own in zip(queries, scores, strict=True)}
    names = {
        "ndcg@10": "ndcg@10",
        "mrr@10": "mrr@10",
        "map@100": "ap_capped@100",
        "accuracy@3": "success@3",
        "precision@5": "precision@5",
        "recall@5": "recall@5",
    }
    ours = rg.evaluate(truth, run, *names.values())
    for name, own in names.items():
        assert np.isclose(ours.mean(own), theirs[f"cosine_{name}"], rtol=1e-12), (name, ours.mean(own), theirs)


if __name__ == "__main__":
    check_lenskit()
    check_sentence_transformers()
    print("LensKit and sentence-transformers: the same numbers")
