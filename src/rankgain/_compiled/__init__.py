"""The compiled kernels. Each .pyx and .pxi file implements the module of the same name in `rankgain._reference`."""
