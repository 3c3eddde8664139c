"""A command that is interrupted while it writes a file leaves either the old file or the complete new file."""

import signal
import subprocess
import sys

import pytest
from support.marks import quick_first

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="a process cannot be told there to end")

# Run `rankgain eval --sample -o FILE`. At the chosen moment, write a byte and wait for a byte before continuing.
CHILD = """
import os, sys
from rankgain import cli
from rankgain.cli import reading
from rankgain.data import writing

chosen, output = sys.argv[1:]

def pause(moment):
    if moment == chosen:
        os.write(1, b".")
        os.read(0, 1)

def then(function, moment):
    def halting(*arguments):
        result = function(*arguments)
        pause(moment)
        return result
    return halting

class Halting:
    def __init__(self, file):
        self.file = file
    def __enter__(self):
        return self
    def __exit__(self, *_):
        self.file.close()
    def __getattr__(self, name):
        return getattr(self.file, name)
    def write(self, data):
        half = len(data) // 2
        self.file.write(data[:half])
        self.file.flush()
        pause("half written")
        self.file.write(data[half:])

reading.check_writable = then(reading.check_writable, "evaluating")
writing.open = then(lambda *arguments: Halting(open(*arguments)), "begun")
os.fsync = then(os.fsync, "written")
os.replace = then(os.replace, "replaced")
sys.argv[1:] = ["eval", "--sample", "-o", output]
sys.exit(cli.command())
"""
# Restore the signals that are ignored if the tests run under nohup or in the background.
HEARD = """
import signal
signal.signal(signal.SIGHUP, signal.SIG_DFL)
signal.signal(signal.SIGINT, signal.default_int_handler)
"""
MOMENTS = ["evaluating", "begun", "half written", "written", "replaced"]


def stopped(moment, number, output):
    """Send a signal to the command at the given moment, and return its exit status and standard error."""
    call = [sys.executable, "-c", HEARD + CHILD, moment, str(output)]
    with subprocess.Popen(call, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as child:
        assert child.stdout.read(1) == b"."
        child.send_signal(number)
        rest, error = child.communicate(b"\n")
        assert rest == b""
        return child.returncode, error


@pytest.fixture(scope="module")
def new():
    return subprocess.run([sys.executable, "-m", "rankgain", "eval", "--sample"], capture_output=True).stdout


@pytest.mark.parametrize("moment", quick_first(["half written", *(m for m in MOMENTS if m != "half written")]))
@pytest.mark.parametrize("name", quick_first(["SIGTERM", "SIGINT", "SIGHUP", "SIGKILL"]))
def test_signal_leaves_the_old_file_unchanged(tmp_path, new, moment, name):
    output, number = tmp_path / "out", getattr(signal, name)
    output.write_bytes(b"old")
    assert stopped(moment, number, output) == (-number, b"")
    assert output.read_bytes() == (new if moment == "replaced" else b"old")
    others = [path.name for path in tmp_path.iterdir() if path != output]
    assert len(others) == (moment in ("begun", "half written", "written"))
    assert all(name.startswith(".rankgain-") for name in others)


def test_ignored_signals_stay_ignored(tmp_path, new):
    """A command that runs under `nohup` or in the background ignores some signals from the start."""
    output = tmp_path / "out"
    call = "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN); signal.signal(signal.SIGHUP, signal.SIG_IGN)\n"
    for number in (signal.SIGINT, signal.SIGHUP):
        child = [sys.executable, "-c", call + CHILD, "evaluating", str(output)]
        with subprocess.Popen(child, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
            assert process.stdout.read(1) == b"."
            process.send_signal(number)
            process.communicate(b"\n")
        assert process.returncode == 0
        assert output.read_bytes() == new
        output.unlink()
