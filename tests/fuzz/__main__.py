"""Fuzz the library on Linux with the package `atheris`, starting in the folder of the tests:

    python -m fuzz TARGET [OPTION ...]   run until a failure or a limit; options of libFuzzer: -runs=N …
    python -m fuzz TARGET FILE           run one input, such as the file to which a failure was written
    python -m fuzz keep TARGET           add the findings to the saved inputs, and reduce them to the same coverage

Findings are written to the folder rankgain-fuzz-TARGET among the temporary files; only `keep` writes to this folder.
Coverage is measured in the compiled code if Clang built it with -fsanitize=fuzzer-no-link, as in .ci/deep; otherwise it
is measured in the Python code, which is slower.
"""

import shlex
import sys
import warnings
from contextlib import nullcontext
from hashlib import sha1
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from shutil import rmtree
from subprocess import run
from tempfile import TemporaryDirectory, gettempdir

import atheris

from fuzz import TARGETS


def reports_coverage():
    """Return whether the compiled code was built with coverage instrumentation."""
    (package,) = find_spec("rankgain").submodule_search_locations
    return any(b"__sanitizer_cov" in path.read_bytes() for path in Path(package).glob("_compiled/lines.*.so"))


def write_inputs(inputs, folder):
    """Write each input to a separate file, the form that libFuzzer reads."""
    rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for data in inputs:
        (folder / sha1(data).hexdigest()).write_bytes(data)
    return str(folder)


def fuzz(name, options):
    with nullcontext() if reports_coverage() else atheris.instrument_imports(include=["rankgain"]):
        harness, target = import_module("fuzz.harness"), import_module(f"fuzz.{name}")
    warnings.simplefilter("error")  # warnings are errors, as in the tests
    folder = Path(gettempdir()) / f"rankgain-fuzz-{name}"
    inputs = [option for option in options if not option.startswith("-")]
    if not inputs:
        (folder / "found").mkdir(parents=True, exist_ok=True)
        inputs = [str(folder / "found"), write_inputs(harness.saved(name), folder / "saved")]
        options = [f"-max_len={TARGETS[name]}", f"-artifact_prefix={folder}/", "-timeout=60", *options, *inputs]
    again = shlex.join([sys.executable, "-m", "fuzz", name])  # the command that libFuzzer runs again to merge inputs
    atheris.Setup([again, *options], lambda data: harness.check(target, data))
    atheris.Fuzz()


def keep(name):
    from fuzz import harness

    with TemporaryDirectory() as folder:
        found = Path(gettempdir()) / f"rankgain-fuzz-{name}" / "found"
        whole = write_inputs(harness.saved(name), Path(folder) / "whole")
        least = write_inputs([], Path(folder) / "least")
        merge = ["-set_cover_merge=1", "-use_counters=0", least, whole, str(found)]
        run([sys.executable, "-m", "fuzz", name, *merge], check=True)
        inputs = [path.read_bytes() for path in Path(least).iterdir()]
    if not inputs:
        sys.exit("the merge failed")
    harness.keep(name, inputs)


if __name__ == "__main__":
    command, *rest = sys.argv[1:] or [""]
    if command in TARGETS:
        fuzz(command, rest)
    elif command == "keep" and len(rest) == 1 and rest[0] in TARGETS:
        keep(rest[0])
    else:
        sys.exit(f"{__doc__}\nTargets: {', '.join(TARGETS)}")
