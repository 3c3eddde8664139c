"""Check that a folder contains valid files of a release.

    python tests/support/release.py FOLDER [--whole] [--tag TAG]

The name, version, size, metadata and contents of every file must be valid. `--whole` requires all parts of a release. A
tag must name the version, and with a tag, no page may state that there is no release yet.
"""

import argparse
import re
import subprocess
import sys
import tomllib
from pathlib import Path

from packaging.utils import parse_sdist_filename, parse_wheel_filename

ROOT = Path(__file__).parents[2]
# The compiled wheels for each platform, and the Python versions on which each wheel is tested.
PYTHONS = {
    "cp311-abi3": ("cp311", "cp312", "cp313", "cp314", "cp315"),
    "cp314-cp314t": ("cp314t",),
    "cp315-cp315t": ("cp315t",),
}
PLATFORMS = (
    "manylinux_x86_64",
    "manylinux_aarch64",
    "musllinux_x86_64",
    "musllinux_aarch64",
    "macosx_x86_64",
    "macosx_arm64",
    "win_amd64",
    "win_arm64",
)
RELEASE = {"sdist", "py3-none-any"} | {f"{python}-{platform}" for python in PYTHONS for platform in PLATFORMS}
LARGEST = 2**20  # maximum size of a wheel in bytes, 1 MB; wheels without the limited API are the largest


def version() -> str:
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]


def platform(tag: str) -> str:
    """Return the platform tag of a wheel without the minimum system version."""
    return re.sub(r"^(manylinux|musllinux|macosx)\d*(_\d+)*_", r"\1_", tag)


def kind(file: Path) -> tuple[str, str]:
    """Return the part of the release that a file provides, and the version of the file."""
    if file.suffix != ".whl":
        return "sdist", str(parse_sdist_filename(file.name)[1])
    _, number, _, tags = parse_wheel_filename(file.name)
    return "+".join(sorted({f"{tag.interpreter}-{tag.abi}-{platform(tag.platform)}" for tag in tags})), str(number)


UNRELEASED = re.compile(r"unreleased|from the first release on|once released|for now", re.IGNORECASE)


def leftovers() -> list[str]:
    """Return all lines in the documentation which say that there is no release yet."""
    names = ["CHANGES.md", "README.md", "docs/start.md", "docs/index.md"]
    lines = [(name, line) for name in names for line in (ROOT / name).read_text(encoding="utf-8").splitlines()]
    return [f"{name}: {line}" for name, line in lines if UNRELEASED.search(line)]


def faults(files: list[Path], whole: bool = False, tag: str = "") -> list[str]:
    """Return a message for each problem with the names and sizes of the files."""
    kinds = {file: kind(file) for file in files}
    parts = [part for part, _ in kinds.values()]
    messages = [f"{tag}: the version is {version()}"] if tag not in ("", f"v{version()}") else []
    messages += leftovers() if tag else []
    messages += [
        f"{file.name}: the version is {version()}" for file, (_, number) in kinds.items() if number != version()
    ]
    messages += [
        f"{file.name}: {size} bytes"
        for file in files
        if (size := file.stat().st_size) > LARGEST and file.suffix == ".whl"
    ]
    messages += [f"{part}: {parts.count(part)} files" for part in sorted({*parts}) if parts.count(part) > 1]
    if whole:
        messages += [f"{part}: missing" for part in sorted(RELEASE - {*parts})]
        messages += [f"{part}: not of a release" for part in sorted({*parts} - RELEASE)]
    return messages


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--whole", action="store_true")
    parser.add_argument("--tag", default="")
    arguments = parser.parse_args()
    files = sorted(arguments.folder.iterdir())
    messages = faults(files, arguments.whole, arguments.tag)
    print(*messages, sep="\n", end="\n" if messages else "")
    wheels = [file for file in files if file.suffix == ".whl"]
    checks = {
        ("twine", "check", "--strict"): files,
        ("check_wheel_contents",): wheels,
        ("abi3audit", "--strict"): [file for file in wheels if "-abi3-" in file.name],
    }
    failed = [subprocess.run([sys.executable, "-m", *tool, *of]).returncode for tool, of in checks.items() if of]
    return bool(messages) or any(failed) or not files


if __name__ == "__main__":
    sys.exit(main())
