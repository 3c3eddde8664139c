"""Run the command line interface with `python -m rankgain`."""

import sys

from rankgain.cli import command

if __name__ == "__main__":
    sys.exit(command())
