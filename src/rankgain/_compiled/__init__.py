"""The kernels: a file for each of `rankgain._reference`, of the same stem; SIMD loops in `simd.h`."""
