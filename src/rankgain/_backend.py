"""The only place that chooses between the compiled kernels and the pure-Python reference.

Everything else calls `_backend.kernels`, `.ordering`, `.readers`, `.columns` and `.lines`, and does not know which.
"""

import os
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType

COMPILED = ("rankgain._kernels", "rankgain._ordering", "rankgain._readers", "rankgain._columns", "rankgain._lines")
PYTHON = (
    "rankgain._reference",
    "rankgain._reference_ordering",
    "rankgain._reference_readers",
    "rankgain._reference_columns",
    "rankgain._reference_lines",
)

name: str
cpu: str | None  # the level of CPU that the compiled loops are for
kernels: ModuleType
ordering: ModuleType
readers: ModuleType
columns: ModuleType
lines: ModuleType


def use(choice: str) -> None:
    """Choose a backend: "auto" (compiled where it is installed), "compiled" or "python"."""
    global name, cpu, kernels, ordering, readers, columns, lines
    if choice not in ("auto", "compiled", "python"):
        raise ImportError(f"RANKGAIN_BACKEND must be auto, compiled or python, not {choice!r}")
    modules = None if choice == "python" else _compiled(required=choice == "compiled")
    name = "python" if modules is None else "compiled"
    kernels, ordering, readers, columns, lines = modules or map(import_module, PYTHON)
    cpu = None if modules is None else _use_cpu(os.environ.get("RANKGAIN_CPU") or None)


def _use_cpu(level: str | None) -> str:
    """Choose the loops for a level of CPU: "baseline", "avx2", or None for the best."""
    used: str | None = ordering.use_cpu(level)
    if used is None:
        raise ImportError(f"RANKGAIN_CPU must be baseline, or avx2 on a CPU that has it, not {level!r}")
    return used


def _compiled(required: bool) -> list[ModuleType] | None:
    """The compiled modules; None where there are none. A broken one is an error: it must not become a slowdown."""
    if not any(map(find_spec, COMPILED)):
        if required:
            raise ImportError(
                "RANKGAIN_BACKEND=compiled, but this installation of rankgain has no compiled extension: install a "
                "wheel for this platform, or build one where a C compiler is, with RANKGAIN_EXTENSION=require "
                "pip install --force-reinstall --no-binary rankgain rankgain; or unset RANKGAIN_BACKEND"
            )
        return None
    try:
        return [import_module(module) for module in COMPILED]
    except ImportError as error:
        raise ImportError(
            f"the compiled extension of rankgain is installed but cannot be loaded ({error}): reinstall rankgain with "
            "pip install --force-reinstall --no-cache-dir rankgain, or set RANKGAIN_BACKEND=python to do without it"
        ) from error


use(os.environ.get("RANKGAIN_BACKEND") or "auto")
