"""The modules that users import, and the public objects in them."""

from importlib import import_module

import rankgain as rg

# Modules whose objects inherit from classes of another package, or are not functions of Python.
OTHERS = {"torchmetrics", "capi"}


def public_modules():
    """Return the package and its public modules by name; the name of the package is empty."""
    return {"": rg} | {name: import_module(f"rankgain.{name}") for name in sorted(rg._MODULES - OTHERS)}


def public_objects():
    """Return the public objects by qualified name, such as "ndcg" or "sklearn.ndcg_score"."""
    return {
        f"{module}.{name}".lstrip("."): getattr(home, name)
        for module, home in public_modules().items()
        for name in home.__all__
        if name != "RankingEvaluator"  # inherits from a class of PySpark
    }
