"""The kernels over numbers, compiled: the order of documents, gain and discount, the takers of a Batch, and the doors
of relevance in rank order.

The functions of `_reference`, `_reference_ordering` and `_reference_doors`, which are their specification, with their
bits. Every function over buffers is `noexcept nogil`, takes one pointer a list and allocates nothing; the `def` above
it opens the buffers, reserves scratch and, but for a single list, lets the GIL go.

One module of several files: what Cython puts into each module would weigh as much as a file of kernels.
"""

include "_numbers.pxi"
include "_ordering.pxi"
include "_takers.pxi"
include "_precisions.pxi"
include "_cascade.pxi"
include "_doors.pxi"
