"""The kernels over lines of TREC files, compiled.

The functions of `_reference_lines`, which are their specification, with their bits. Every function over buffers is
`noexcept nogil`; the `def` above it opens the buffers, reserves scratch and lets the GIL go.
"""

import os

from libc.stdint cimport uint64_t

cdef uint64_t SEED = int.from_bytes(os.urandom(8), "little")  # random, so that ids cannot be crafted to collide

include "_lines.pxi"
