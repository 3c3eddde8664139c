"""The memory that NumPy and Python take."""

import tracemalloc


def measured(function):
    """What a function returns, and the most bytes that are held while it runs."""
    tracemalloc.start()
    try:
        return function(), tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
