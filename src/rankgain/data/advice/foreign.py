"""Advice for unsupported containers from other libraries, which are recognised by name, without an import."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def container_advice(value: Any) -> str:
    """Return the end of an error message: how to convert a container to a frame."""
    library = type(value).__module__.partition(".")[0]
    if library == "lenskit" and hasattr(value, "to_df"):
        return "; pass its frame, .to_df()"
    if library == "datasets" and hasattr(value, "with_format"):
        return '; pass its table, .with_format("arrow")[:]'
    return ""


def element_advice(value: Any) -> str:
    """Return the end of an error message: how to get the id of a list element."""
    if isinstance(value, Mapping) and "corpus_id" in value:  # a hit from sentence-transformers
        return "; pass the ids: [[hit['corpus_id'] for hit in hits] for hits in lists]"
    if hasattr(value, "page_content") and hasattr(value, "metadata"):  # a LangChain document
        return "; pass the ids: [[document.metadata['id'] for document in documents] for documents in lists]"
    return ""
