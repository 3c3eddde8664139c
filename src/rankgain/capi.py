"""What is found in the place of the compiled `capi` where nothing was compiled."""

raise ImportError(
    "rankgain.capi, the functions for compiled code, is not there: this installation of rankgain has no compiled "
    "extension. Install a wheel for this platform, or build one where a C compiler is, with RANKGAIN_EXTENSION=require "
    "pip install --force-reinstall --no-binary rankgain rankgain"
)
