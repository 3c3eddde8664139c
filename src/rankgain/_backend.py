"""Choose between the compiled kernels and the pure-Python reference.

Only this module makes that choice. Other modules use `_backend.walk`, `_backend.lists` and so on (see
`COMPILED_PARTS`), which belong to the current backend. Each part is imported on first use.
"""

import os
from importlib import import_module
from importlib.machinery import PathFinder
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # both backends have these signatures; arguments are positional and buffers are contiguous
    from rankgain._reference import columns as columns
    from rankgain._reference import dicts as dicts
    from rankgain._reference import flips as flips
    from rankgain._reference import greedy as greedy
    from rankgain._reference import lambdas as lambdas
    from rankgain._reference import lines as lines
    from rankgain._reference import lists as lists
    from rankgain._reference import novelty as novelty
    from rankgain._reference import parts as parts
    from rankgain._reference import sums as sums
    from rankgain._reference import walk as walk

VERSION = "0.2.0"

# reference modules that both backends use
REFERENCE_ONLY = ("parts", "greedy")

# reference modules, mapped to the compiled modules that replace them
COMPILED_PARTS = {
    "walk": "walk",
    "sums": "walk",
    "novelty": "walk",
    "lists": "walk",
    "dicts": "walk",
    "columns": "walk",
    "lines": "lines",
    "flips": "flips",
    "lambdas": "lambdas",
}
COMPILED = tuple(dict.fromkeys(f"rankgain._compiled.{module}" for module in COMPILED_PARTS.values()))
NOTHING_COMPILED = (
    "this installation of rankgain has no compiled extension: install a wheel for this platform, or build one with a "
    "C compiler: RANKGAIN_EXTENSION=require pip install --force-reinstall --no-binary rankgain rankgain"
)

# parts of error messages from Cython and CPython
ANOTHER_INTERPRETER = "Interpreter change detected", "subinterpreters"

name: str
cpu: str | None  # the CPU level that the compiled loops use


def module_of(part: str, backend: str) -> str:
    """Return the name of the module that implements a part of a backend."""
    return (
        f"rankgain._reference.{part}"
        if backend == "python" or part in REFERENCE_ONLY
        else f"rankgain._compiled.{COMPILED_PARTS[part]}"
    )


def use(choice: str) -> None:
    """Select a backend: "auto" (compiled if installed, otherwise Python), "compiled" or "python"."""
    global name, cpu
    if choice not in ("auto", "compiled", "python"):
        raise ImportError(f"RANKGAIN_BACKEND must be auto, compiled or python, not {choice!r}")
    for part in COMPILED_PARTS:
        globals().pop(part, None)
    name = "python" if choice == "python" or not _compiled(required=choice == "compiled") else "compiled"
    cpu = None if name == "python" else _use_cpu(os.environ.get("RANKGAIN_CPU") or None)


def _use_cpu(level: str | None) -> str:
    """Select the loops for a CPU level: "baseline", "avx2", or None for the best level available."""
    used: str | None = _import_compiled(COMPILED[0]).use_cpu(level)
    if used is None:
        raise ImportError(f"RANKGAIN_CPU must be baseline, or avx2 on a CPU that has it, not {level!r}")
    return used


def _compiled(required: bool) -> bool:
    """Return whether the compiled modules are installed. A broken installation raises an error instead of falling back
    to Python."""
    try:
        _import_compiled(COMPILED[0])
    except ImportError:
        path = import_module("rankgain._compiled").__path__
        if any(PathFinder.find_spec(module, path) for module in COMPILED):
            raise
        if required:
            raise ImportError(f"RANKGAIN_BACKEND=compiled, but {NOTHING_COMPILED}; or unset RANKGAIN_BACKEND") from None
        return False
    return True


def _import_compiled(module: str) -> ModuleType:
    try:
        return import_module(module)
    except ImportError as error:
        if any(words in str(error) for words in ANOTHER_INTERPRETER):
            raise ImportError(
                f"only one interpreter per process can load rankgain, as with NumPy ({error}): use threads or "
                "processes instead of sub-interpreters"
            ) from error
        raise ImportError(
            f"the compiled extension of rankgain is installed but cannot be loaded ({error}): reinstall rankgain with "
            "pip install --force-reinstall --no-cache-dir rankgain, or set RANKGAIN_BACKEND=python to do without it"
        ) from error


if not TYPE_CHECKING:  # hidden from type checkers, which would otherwise accept any name

    def __getattr__(part: str) -> ModuleType:
        if part not in (*COMPILED_PARTS, *REFERENCE_ONLY):
            raise AttributeError(f"module {__name__!r} has no attribute {part!r}")
        path = module_of(part, name)
        module = import_module(path) if "_reference" in path else _import_compiled(path)
        globals()[part] = module
        return module


use(os.environ.get("RANKGAIN_BACKEND") or "auto")
