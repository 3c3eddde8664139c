"""The kernels, compiled: the order of documents, gain and discount, the engine that finds the hits of each query and
makes figures of them, and the functions on single lists.

The functions of the reference of the same names, which are their specification, with their bits. Every function over
buffers is `noexcept nogil`, takes one pointer a list and allocates nothing; the `def` above it opens the buffers,
reserves scratch and, but for a single list and for dicts, lets the GIL go.

One module of several files, for calls across modules are not inlined.
"""

import os

from libc.stdint cimport uint64_t

cdef uint64_t SEED = int.from_bytes(os.urandom(8), "little")  # random, so that ids cannot be crafted to collide

include "_numbers.pxi"
include "_ordering.pxi"
include "_sums.pxi"
include "_precisions.pxi"
include "_cascade.pxi"
include "_program.pxi"
include "_dicts.pxi"
include "_columns.pxi"
include "_walk.pxi"
include "_lists.pxi"
