"""The stand-in for the compiled `capi` if nothing was compiled."""

from rankgain._backend import NOTHING_COMPILED

raise ImportError(f"rankgain.capi, the functions for compiled code, is not installed: {NOTHING_COMPILED}")
