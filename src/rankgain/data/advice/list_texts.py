"""Refuse texts that represent lists, as stored in CSV files, where ids are expected."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import Any

from rankgain.errors import quoted

EXAMINED = 100  # number of ids to examine; one is not enough, since it may be a title such as "[REC]"


_BRACKETS = {"[": "]", "{": "}", "(": ")"}


def _is_list_text(value: Any) -> bool:
    """Return whether a value is the text of a list, a set, a mapping, or a tuple of texts, unlike the pair (3, 4)."""
    if not isinstance(value, str) or _BRACKETS.get(value[:1]) != value.rstrip()[-1:]:
        return bool(value == "set()")
    return value[0] != "(" or not {"'", '"'}.isdisjoint(value)


def refuse_list_texts(ids: Iterable[Any], where: str) -> None:
    """Refuse ids if the first `EXAMINED` ids are all texts in brackets."""
    texts = list(islice(ids, EXAMINED))
    if texts and all(map(_is_list_text, texts)):
        raise ValueError(f"{where} holds lists as text, {quoted(texts[0])}, not ids: {_conversion(texts)}")


def list_text_advice(value: Any) -> str:
    """Return the end of an error for a value that should be a list, or "" if it is not the text of a list."""
    return f": the text of a list; {_conversion([value])}" if _is_list_text(value) else ""


def _conversion(texts: list[str]) -> str:
    """Say how to convert texts to lists."""
    import ast  # imported here because it is needed only for an error
    import json

    sample = next((text for text in texts if ("," in text or text[0] in "{(") and "..." not in text), None)
    if sample is not None:
        for name, convert in (("json.loads", json.loads), ("ast.literal_eval", ast.literal_eval)):
            try:
                convert(sample)
            except (ValueError, SyntaxError, RecursionError, MemoryError):
                continue
            return f"convert each with {name}"
    return "store lists in parquet or JSON, or split each text into ids"
