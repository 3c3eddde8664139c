"""The compiled kernels. Each file implements the module of the same name in `rankgain._reference`."""
