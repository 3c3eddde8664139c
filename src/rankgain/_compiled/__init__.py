"""The kernels: each module of `rankgain._reference` has a counterpart of the same name; SIMD loops are in `simd.h`."""
