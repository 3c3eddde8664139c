from rankgain.capi cimport *  # the C functions: see capi.pxd and include/rankgain.h
