"""Draw numbers with many duplicates, and containers of numbers."""

import struct
from array import array
from collections import UserList

import numpy as np

WILD = [0.5, -0.0, -1.0, float("nan"), float("inf"), float("-inf"), 5e-324, 2.3e-308, 1e-300, 0.1, 64.0, 1e16, 1023.5,
        1024.0, 2.0**53 + 2, 2.0**63, 1e308, 1.7e308, -1e308, 4.1, 3e-39]  # fmt: skip


def number(draw):
    """Draw a small integer most of the time and an unusual value otherwise."""
    byte = draw.bytes(1)[0]
    if byte < 230:
        return float(byte % 5)
    return struct.unpack("<d", draw.bytes(8))[0] if byte > 251 else WILD[byte % len(WILD)]


def numbers(draw, most=12):
    """Draw a few numbers, or many numbers with few distinct values to reach the code for long lists."""
    return draw.many(number, most) * draw.of([1] * 12 + [6, 25])


def strided(values):
    return np.repeat(np.array(values, dtype=float), 2)[::2]


def reversed_(values):
    return np.array(values[::-1], dtype=np.float32)[::-1]


def fixed(values):
    array = np.array(values, dtype=float)
    array.flags.writeable = False
    return array


def objects(values):
    return np.array([*values, None], dtype=object)[:-1]


USUAL = [list, tuple, strided, reversed_, fixed]
USUAL += [lambda values, dtype=dtype: np.array(values).astype(dtype) for dtype in "dfdfqiBlehHbIQ?g"]
ODD = [objects, UserList, lambda values: array("d", values)]
ODD += [lambda values, dtype=dtype: np.array(values).astype(dtype) for dtype in (">f8", ">i4", "c16", "U3", "M8[s]")]


def container(draw, values):
    return draw.mostly(USUAL, ODD, 16)(values)
