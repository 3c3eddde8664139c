"""Describe calls and their outcomes for the fixture `rejects`."""

import re
import reprlib
import traceback
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

import rankgain as rg

SHORT = reprlib.Repr()
SHORT.maxother = 1000


def call_text(function, args, options):
    """Return the source text of a call, with long values abbreviated."""
    values = [*map(SHORT.repr, args), *(f"{name}={SHORT.repr(value)}" for name, value in options.items())]
    return f"{function.__name__}({re.sub(r'( object)? at 0x[0-9a-fA-F]+', '', ', '.join(values))})"


def has_parts(text, message):
    """Return whether the text contains the message, in which "…" stands for any omitted text."""
    start = 0
    for part in message.split("…"):
        start = text.find(part.strip(), start)
        if start < 0:
            return False
        start += len(part.strip())
    return True


def snapshot(value):
    """Return the observable state of a value, for comparison before and after a call."""
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
    """Convert a result to plain lists and numbers. An Evaluation becomes a list of vectors."""
    if isinstance(result, rg.Evaluation):
        return [vector.tolist() for vector in result.values()]
    if isinstance(result, (list, tuple)):
        return [plain(part) for part in result]
    return result.tolist() if isinstance(result, np.ndarray) else result


class Outcome(NamedTuple):
    """What a call returned or raised. `frames`: the last two lines of the traceback, which differ between backends."""

    kind: Any
    text: str
    frames: str = ""

    def shown(self):
        return self.text if self.kind == "no error" else f"{self.kind.__name__}: {self.text}{self.frames}"


def outcome(call):
    try:
        return Outcome("no error", repr(plain(call())))
    except Exception as error:
        last = traceback.extract_tb(error.__traceback__, limit=-2)
        frames = [f"\n  {at.filename}:{at.lineno}: {at.line}" for at in last]
        return Outcome(type(error), str(error), "".join(frames))


def masked(*mask):
    """Return the numbers 1, 2, ... as a masked array with the given mask."""
    return np.ma.masked_array(np.arange(1.0, len(mask) + 1), mask)


def vectors_or_error(call):
    """Return the vectors of an Evaluation by metric, or the type and message of the exception if the call raises."""
    try:
        return {name: vector.tolist() for name, vector in call().items()}
    except Exception as error:
        return type(error), str(error)
