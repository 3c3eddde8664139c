from rankgain.capi cimport *  # for documentation of the C functions, see capi.pxd and include/rankgain.h
