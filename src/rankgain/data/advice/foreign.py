"""Advice for unsupported containers from other libraries, which are recognised by name, without an import."""

from __future__ import annotations

import math
from collections.abc import Container, Mapping, Sequence
from typing import Any

import numpy as np


def container_advice(value: Any) -> str:
    """Return the end of an error message: how to convert a container to a frame."""
    library = type(value).__module__.partition(".")[0]
    if library == "lenskit" and hasattr(value, "to_df"):
        return "; pass its frame, .to_df()"
    if library == "datasets":
        return _DATASETS.get(type(value).__name__, "")
    if library == "llama_index" and hasattr(value, "relevant_docs"):
        return "; pass its judgments, .relevant_docs"
    return ""


_DATASETS = {
    "Dataset": '; pass its table, .with_format("arrow")[:]',
    "Column": "; pass its values, column[:]",
    "IterableDataset": "; pass its rows, list(dataset)",
    "IterableColumn": "; pass its values, list(column)",
    "DatasetDict": "; choose a split, dataset['test']",
    "IterableDatasetDict": "; choose a split and pass its rows, list(dataset['test'])",
}


def refuse_foreign_mapping(value: Mapping[Any, Any], name: str) -> None:
    """Refuse mappings of other libraries that are neither tables nor keyed by query."""
    if type(value) is not dict and (advice := container_advice(value)):
        raise TypeError(f"{name} is a {type(value).__name__}{advice}")
    if "relevant_docs" in value and "queries" in value:
        raise TypeError(f"{name} holds a question set of LlamaIndex: pass its judgments, {name}['relevant_docs']")


def refuse_foreign_rows(first: Any, name: str, columns: Container[str]) -> None:
    """Refuse a list of rows of a database or of tuples, each with a query, a document and a number.

    `columns`: the roles of the fields of the first row, if it is a named tuple.
    """
    if "query" in columns and "doc" in columns:
        raise TypeError(f"{name} holds named tuples: write [row._asdict() for row in {name}]")
    if hasattr(first, "keys") and not isinstance(first, Mapping):
        raise TypeError(f"{name} holds rows of a database: write [dict(row) for row in {name}]")
    if isinstance(first, tuple) and len(first) == 3 and is_plain_number(first[2]) and str in map(type, first[:2]):
        number = "score" if name == "run" else "relevance"
        record = f"dict(zip(('query_id', 'doc_id', '{number}'), row))"
        raise TypeError(f"{name} holds tuples of a query, a document and a number: write [{record} for row in {name}]")


def all_numeric_texts(values: Sequence[Any]) -> bool:
    """Return whether all values are texts that represent numbers."""
    try:
        return all(isinstance(value, str) and math.isfinite(float(value)) for value in values)
    except ValueError:
        return False


def is_plain_number(value: Any) -> bool:
    return isinstance(value, (int, float, np.number)) and not isinstance(value, bool)


def pair_advice(row: Any, queries: Sequence[Any], name: str) -> str:
    """Return the end of an error message: how to write lists of ids beside lists of scores, or "" for other rows."""
    if len(row) != 2 or not all(isinstance(part, (list, tuple, np.ndarray)) and len(part) for part in row):
        return ""
    ids, scores = row
    if len(ids) != len(scores) or isinstance(ids[0], float) or not isinstance(scores[0], (float, np.floating)):
        return ""
    pair = (
        "ids.tolist(), scores.tolist()"
        if isinstance(ids, np.ndarray) and isinstance(scores, np.ndarray)
        else "ids, scores"
    )
    items = f"enumerate({name})" if type(queries) is range else f"{name}.items()"
    return f"; of ids beside scores, pass {{query: dict(zip({pair})) for query, (ids, scores) in {items}}}"


def element_advice(value: Any) -> str:
    """Return the end of an error message: how to get the id of a list element."""
    if isinstance(value, Mapping) and "corpus_id" in value:  # a hit from sentence-transformers
        return "; pass the ids: [[hit['corpus_id'] for hit in hits] for hits in lists]"
    if isinstance(value, (list, tuple)):
        return "; of lists of ids, pass the ids: [[id for group in row for id in group] for row in lists]"
    if isinstance(value, float):
        return "; of integers beside NaN, pass [[int(id) for id in row if id == id] for row in lists]"
    if hasattr(value, "__dlpack__"):
        return "; of tensors, pass [[id.item() for id in row] for row in lists]"
    if hasattr(value, "page_content") and hasattr(value, "metadata"):  # a LangChain document
        return "; pass the ids: [[document.metadata['id'] for document in documents] for documents in lists]"
    return ""
