"""Stand-in for the compiled module `capi`. If no extension was compiled, importing it raises ImportError."""

from rankgain._backend import NOTHING_COMPILED

raise ImportError(f"rankgain.capi, the functions for compiled code, is not installed: {NOTHING_COMPILED}")
