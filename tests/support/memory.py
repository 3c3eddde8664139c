"""Measure the memory that Python and NumPy allocate."""

import tracemalloc


def measured(function):
    """Return the result of a function, and the peak memory in bytes while it runs."""
    tracemalloc.start()
    try:
        return function(), tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
