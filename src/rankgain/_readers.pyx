"""The kernels over what callers hold, compiled: dicts, ids in columns, lines of TREC files.

The functions of `_reference_readers`, `_reference_columns` and `_reference_lines`, which are their specification, with
their bits. Every function over buffers is `noexcept nogil`; the `def` above it opens the buffers, reserves scratch and
lets the GIL go.
"""

import os

from libc.stdint cimport uint64_t

cdef uint64_t SEED = int.from_bytes(os.urandom(8), "little")  # nobody can prepare ids that all collide

include "_dicts.pxi"
include "_columns.pxi"
include "_lines.pxi"
