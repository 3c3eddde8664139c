"""Advice for containers of other libraries that are not read; they are recognised by name, without an import."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def container_advice(value: Any) -> str:
    """The end of an error for a container: how to convert it to a frame."""
    library = type(value).__module__.partition(".")[0]
    if library == "lenskit" and hasattr(value, "to_df"):
        return "; pass its frame, .to_df()"
    if library == "datasets" and hasattr(value, "with_format"):
        return '; pass its table, .with_format("arrow")[:]'
    return ""


def element_advice(value: Any) -> str:
    """The end of an error for an element of a list: how to get its id."""
    if isinstance(value, Mapping) and "corpus_id" in value:  # a hit of sentence-transformers
        return "; pass the ids: [[hit['corpus_id'] for hit in hits] for hits in lists]"
    if hasattr(value, "page_content") and hasattr(value, "metadata"):  # a document of LangChain
        return "; pass the ids: [[document.metadata['id'] for document in documents] for documents in lists]"
    return ""
