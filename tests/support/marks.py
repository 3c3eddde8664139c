"""Which parameters the quick suite takes."""

import pytest


def quick_first(values, quick=1):
    """Parameters of a test: the first few for the quick suite, the others marked slow."""
    sets = [value if isinstance(value, tuple) else (value,) for value in values]
    return [pytest.param(*own, marks=[pytest.mark.slow] * (place >= quick)) for place, own in enumerate(sets)]
