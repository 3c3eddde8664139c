"""The memory that NumPy and Python take."""

import tracemalloc


def measured(function):
    """The result of a function, and the peak of allocated bytes while it runs."""
    tracemalloc.start()
    try:
        return function(), tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
