"""Tools shared by all fuzz targets: choices drawn from bytes, both backends in one process, and outcomes of calls."""

import ast
import struct
import warnings
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

import numpy as np

from rankgain import _backend, functions
from rankgain.metrics import discounts

CORPUS = Path(__file__).parent / "corpus"


class Draw:
    """Choices drawn from bytes, one byte per choice, with zeros after the last byte."""

    def __init__(self, data):
        self._data = data
        self._at = 0

    def bytes(self, size):
        data = self._data[self._at : self._at + size]
        self._at += size
        return data + bytes(size - len(data))

    def rest(self):
        return self._data[self._at :]

    def below(self, bound):
        return self.bytes(1)[0] % bound

    def of(self, options):
        return options[self.below(len(options))]

    def mostly(self, usual, odd, often=8):
        """Return a usual option or, with probability `often` / 256, an odd one."""
        byte = self.bytes(1)[0]
        return odd[byte % len(odd)] if byte >= 256 - often else usual[byte % len(usual)]

    def many(self, one, most):
        return [one(self) for _ in range(self.below(most + 1))]


class Backend(NamedTuple):
    modules: dict
    tables: dict  # caches of discounts.py and functions.py, separate for each backend
    settings: dict


@cache
def backends():
    """Import both backends on first use, so that this module can be imported even if nothing is compiled."""
    names = "compiled", "python"
    modules = (
        {part: import_module(_backend.module_of(part, name)) for part in _backend.COMPILED_PARTS} for name in names
    )
    return [Backend({"name": name, **parts}, {}, {}) for name, parts in zip(names, modules, strict=True)]


def use(backend):
    """Switch to a backend like `_backend.use`, but faster."""
    vars(_backend).update(backend.modules)
    discounts._tables, functions._settings_cache = backend.tables, backend.settings


def outcome(call):
    """Return the bits of the result, or the type and text of the error.

    Exceptions other than ValueError and TypeError are failures.
    """
    try:
        return bits(call())
    except (ValueError, TypeError) as error:
        return type(error), str(error)


def bits(value):
    if isinstance(value, float):
        return struct.pack("d", value)
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.shape, value.tobytes()
    if isinstance(value, Mapping):
        return {key: bits(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [bits(item) for item in value]
    return value


def check(target, data):
    """Run the call made by a target on each backend, and compare the outcomes."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # raised for unusual input, on both backends alike
        call = target.call(Draw(data))
        compiled, python = ((use(backend), outcome(call))[1] for backend in backends())
    assert compiled == python, f"compiled:\n{compiled}\nin Python:\n{python}"


def saved(name):
    """Read the saved inputs of a target from a file with one input per line."""
    return [ast.literal_eval(line) for line in (CORPUS / f"{name}.txt").read_text().splitlines()]


def keep(name, inputs):
    (CORPUS / f"{name}.txt").write_text(
        "".join(f"{data!r}\n" for data in sorted(inputs, key=lambda data: (len(data), data)))
    )
