"""What a release is made of, and whether a folder holds it.

    python tests/support/release.py FOLDER [--whole] [--tag TAG]

Every file must be in order: its name, its version, its size, its metadata and what it contains. `--whole` asks for all
that a release has. With a tag, which must name the version, no page may say that there is no release yet.
"""

import argparse
import re
import subprocess
import sys
import tomllib
from pathlib import Path

from packaging.utils import parse_sdist_filename, parse_wheel_filename

ROOT = Path(__file__).parents[2]
# The compiled wheels of each platform, and the Pythons that each is tested on.
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
LARGEST = 1_000_000  # bytes of a wheel


def version() -> str:
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]


def platform(tag: str) -> str:
    """That of a wheel, without the release of the system that it needs."""
    return re.sub(r"^(manylinux|musllinux|macosx)\d*(_\d+)*_", r"\1_", tag)


def kind(file: Path) -> tuple[str, str]:
    """Which part of a release a file is, and its version."""
    if file.suffix != ".whl":
        return "sdist", str(parse_sdist_filename(file.name)[1])
    _, number, _, tags = parse_wheel_filename(file.name)
    return "+".join(sorted({f"{tag.interpreter}-{tag.abi}-{platform(tag.platform)}" for tag in tags})), str(number)


UNRELEASED = re.compile(r"unreleased|from the first release on", re.IGNORECASE)


def leftovers() -> list[str]:
    """Where pages still say that there is no release."""
    names = ["CHANGES.md", "README.md", "docs/start.md", "docs/index.md"]
    lines = [(name, line) for name in names for line in (ROOT / name).read_text(encoding="utf-8").splitlines()]
    return [f"{name}: {line}" for name, line in lines if UNRELEASED.search(line)]


def faults(files: list[Path], whole: bool = False, tag: str = "") -> list[str]:
    """What the names and the sizes show."""
    kinds = {file: kind(file) for file in files}
    found = [part for part, _ in kinds.values()]
    said = [f"{tag}: the version is {version()}"] if tag not in ("", f"v{version()}") else []
    said += leftovers() if tag else []
    said += [f"{file.name}: the version is {version()}" for file, (_, number) in kinds.items() if number != version()]
    said += [
        f"{file.name}: {size} bytes"
        for file in files
        if (size := file.stat().st_size) > LARGEST and file.suffix == ".whl"
    ]
    said += [f"{part}: {found.count(part)} files" for part in sorted({*found}) if found.count(part) > 1]
    if whole:
        said += [f"{part}: missing" for part in sorted(RELEASE - {*found})]
        said += [f"{part}: not of a release" for part in sorted({*found} - RELEASE)]
    return said


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--whole", action="store_true")
    parser.add_argument("--tag", default="")
    asked = parser.parse_args()
    files = sorted(asked.folder.iterdir())
    said = faults(files, asked.whole, asked.tag)
    print(*said, sep="\n", end="\n" if said else "")
    wheels = [file for file in files if file.suffix == ".whl"]
    looks = {
        ("twine", "check", "--strict"): files,
        ("check_wheel_contents",): wheels,
        ("abi3audit", "--strict"): [file for file in wheels if "-abi3-" in file.name],
    }
    failed = [subprocess.run([sys.executable, "-m", *tool, *of]).returncode for tool, of in looks.items() if of]
    return bool(said) or any(failed) or not files


if __name__ == "__main__":
    sys.exit(main())
