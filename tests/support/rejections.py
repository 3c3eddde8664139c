"""Outcomes of calls, and what the fixture `rejects` compares and prints."""

import re
import reprlib
from collections.abc import Mapping

import numpy as np

import rankgain as rg

SHORT = reprlib.Repr()
SHORT.maxother = 1000


def call_text(function, args, options):
    """The call as one would write it, long values abbreviated."""
    values = [*map(SHORT.repr, args), *(f"{name}={SHORT.repr(value)}" for name, value in options.items())]
    return f"{function.__name__}({re.sub(r'( object)? at 0x[0-9a-fA-F]+', '', ', '.join(values))})"


def has_parts(text, message):
    """Whether the text holds all parts of the message, in their order; "…" stands for text left out."""
    start = 0
    for part in message.split("…"):
        start = text.find(part.strip(), start)
        if start < 0:
            return False
        start += len(part.strip())
    return True


def snapshot(value):
    """The observable state of a value, to compare before and after a call."""
    if isinstance(value, np.ndarray) and value is not np.ma.masked:
        content = [*map(id, value.flat)] if value.dtype.kind == "O" else value.tobytes()
        return str(value.dtype), value.shape, value.strides, str(value.flags), content, repr(getattr(value, "mask", 0))
    kind = type(value)
    library = kind.__module__.partition(".")[0]
    if library == "pandas" and kind.__name__ in ("DataFrame", "Series"):
        return repr(getattr(value, "dtypes", "")), repr(value.index), repr(value.values.tolist())
    if (library, kind.__name__) in (("polars", "DataFrame"), ("polars", "Series"), ("pyarrow", "Table")):
        return repr(getattr(value, "schema", "")), repr(value.to_dict() if kind.__name__ == "DataFrame" else value)
    if library == "scipy":
        return [snapshot(array) for array in (value.tocsr().data, value.tocsr().indices, value.tocsr().indptr)]
    if isinstance(value, Mapping):
        return type(value), [(snapshot(key), snapshot(item)) for key, item in value.items()]
    if isinstance(value, (list, tuple, set)):
        return type(value), [snapshot(item) for item in value]
    return id(value)


def plain(result):
    """Numbers as Python holds them; an Evaluation as its vectors."""
    if isinstance(result, rg.Evaluation):
        return [vector.tolist() for vector in result.values()]
    if isinstance(result, (list, tuple)):
        return [plain(part) for part in result]
    return result.tolist() if isinstance(result, np.ndarray) else result


def outcome(call):
    try:
        return "no error", repr(plain(call()))
    except Exception as error:
        return type(error), str(error)


def masked(*mask):
    """A masked array of the numbers 1, 2, …."""
    return np.ma.masked_array(np.arange(1.0, len(mask) + 1), mask)


def vectors_or_error(call):
    """The vectors of an Evaluation by metric, or the type and the text of what is raised instead."""
    try:
        return {name: vector.tolist() for name, vector in call().items()}
    except Exception as error:
        return type(error), str(error)
