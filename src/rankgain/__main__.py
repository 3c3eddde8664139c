"""`python -m rankgain`: the command line."""

import sys

from rankgain.cli import command

if __name__ == "__main__":
    sys.exit(command())
