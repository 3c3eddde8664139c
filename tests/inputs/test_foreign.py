"""Errors for containers from other libraries, tested with stand-ins that have the same names and attributes."""

from types import SimpleNamespace

import rankgain as rg

ItemListCollection = type("ItemListCollection", (), {"__module__": "lenskit.data.collection", "to_df": None})
Dataset = type("Dataset", (), {"__module__": "datasets.arrow_dataset", "with_format": None})


def test_containers_of_other_libraries_are_named(rejects):
    for container, advice in [
        (ItemListCollection(), "not ItemListCollection; pass its frame, .to_df()"),
        (Dataset(), 'not Dataset; pass its table, .with_format("arrow")[:]'),
    ]:
        rejects(TypeError, f"truth must hold …{advice}", rg.judgments, container)
        rejects(TypeError, f"recommended must hold …{advice}", rg.from_recommendations, [["a"]], container)
        rejects(TypeError, f"run must hold …{advice}", rg.evaluate, [{"a"}], container, "rr")
        rejects(TypeError, f"qrels_df must be …{advice}", rg.from_frames, container)


def test_hits_and_documents_in_lists_are_named(rejects):
    hit, document = {"corpus_id": 3, "score": 0.9}, SimpleNamespace(page_content="text", metadata={"id": "a"})
    message = ": query 0, position 0: ids must be …this one is dict; pass the ids: [[hit['corpus_id'] for hit"
    rejects(TypeError, f"recommended{message}", rg.from_recommendations, [[3]], [[hit]])
    rejects(TypeError, f"run{message}", rg.evaluate, [{3}], [[hit]], "rr")
    message = (
        "recommended: query 'q', position 0: …; pass the ids: [[document.metadata['id'] for document in documents]"
    )
    rejects(TypeError, message, rg.from_recommendations, {"q": ["a"]}, {"q": [document]})
