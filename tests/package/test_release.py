"""The workflows build, test and publish every required wheel, in jobs that would pass a security review.

In the `lint` step of .ci/run, zizmor checks what linters can: permissions, caches, pinned hashes, and text that
is run as a command.
"""

import re
import shutil
import subprocess
import sys
from itertools import chain
from pathlib import Path

import pytest
from ruamel.yaml import YAML
from support import ROOT, release
from support.release import PLATFORMS, PYTHONS, RELEASE

pytestmark = pytest.mark.checkout

FILES = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
JOBS = {path.stem: YAML(typ="safe").load(path)["jobs"] for path in FILES}

# The platform and architecture of each GitHub runner.
RUNNERS = {
    "ubuntu-24.04": ("linux", "x86_64"),
    "ubuntu-24.04-arm": ("linux", "aarch64"),
    "windows-2025": ("windows", "AMD64"),
    "windows-11-arm": ("windows", "ARM64"),
    "macos-15": ("macos", "arm64"),
    "macos-15-intel": ("macos", "x86_64"),
}


def identifiers(runner: str) -> set[str]:
    """Return the identifiers of the wheels that cibuildwheel builds on a runner with the settings in pyproject.toml."""
    platform, architecture = RUNNERS[runner]
    options = "--print-build-identifiers", "--platform", platform, "--archs", architecture
    command = [sys.executable, "-m", "cibuildwheel", *options]
    return {*subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()}


def test_every_wheel_is_built_on_a_machine_of_its_own_kind():
    built = [identifiers(runner) for runner in JOBS["wheels"]["compiled"]["strategy"]["matrix"]["os"]]
    pythons = chain.from_iterable(PYTHONS.values())
    assert sorted(chain.from_iterable(built)) == sorted(f"{p}-{where}" for p in pythons for where in PLATFORMS)


def test_every_python_and_kind_of_linux_is_tested_on_every_change():
    legs = JOBS["check"]["test"]["strategy"]["matrix"]["include"]
    tested = {"cp" + leg["python"].replace(".", "") for leg in legs}
    images = JOBS["check"]["image"]["strategy"]["matrix"]["only"]
    assert {*images} <= identifiers("ubuntu-24.04")
    assert tested | {image.partition("-")[0] for image in images} == {*chain.from_iterable(PYTHONS.values())}
    assert any("-musllinux_" in image for image in images)


def test_every_wheel_is_tested():
    images, legs = (JOBS["wheels"][job]["strategy"]["matrix"] for job in ("again", "tested"))
    assert {*images["os"], *legs["os"]} == {*RUNNERS}
    assert {RUNNERS[runner][0] for runner in images["os"]} == {"linux"}
    tested = {"cp" + str(python).replace(".", "") for python in legs["python"]}
    assert tested == {*chain.from_iterable(PYTHONS.values())}


def test_published_files_are_stored_before_other_code_runs():
    needed = r"(actions/checkout|actions/setup-python|pypa/cibuildwheel)@|.*build-requirements.txt$"
    for job in ("compiled", "portable"):
        steps = [step.get("uses", step.get("run")) for step in JOBS["wheels"][job]["steps"]]
        upload = next(index for index, step in enumerate(steps) if step.startswith("actions/upload-artifact@"))
        assert all(re.match(needed, step, re.MULTILINE) for step in steps[:upload]), job
    (wheels,) = (step for step in JOBS["wheels"]["compiled"]["steps"] if "cibuildwheel@" in step["uses"])
    assert wheels["env"] == {"CIBW_TEST_SKIP": "*"}


def steps(script: str) -> set[str]:
    """Return the steps that .ci/run or .ci/deep runs by default."""
    (line,) = re.findall(r"^ *\(\(\$#\)\) \|\| set -- (.+)$", (ROOT / ".ci" / script).read_text(), re.MULTILINE)
    return set(line.split())


def test_tree_hash_depends_on_pages_and_benches_only_for_steps_that_read_them(tmp_path):
    (function,) = re.findall(r"^tree_hash\(\) \{.+?^\}", (ROOT / ".ci" / "deep").read_text(), re.MULTILINE | re.DOTALL)
    tree = tmp_path / "hashed"
    for folder in ("docs", "bench"):
        (tree / folder).mkdir(parents=True)
    steps = "leaks", "browser", "heavy", "bench", "clients"

    def hashes() -> dict[str, str]:
        call = f"temp={tmp_path}; {function}; " + "; ".join(f"tree_hash {step}" for step in steps)
        printed = subprocess.run(["bash", "-ec", call], capture_output=True, text=True, check=True).stdout
        return dict(zip(steps, printed.split(), strict=True))

    (tree / "setup.py").write_text("1")
    before = hashes()
    readers = {
        "README.md": ["browser", "heavy"],
        "docs/conf.py": ["browser", "heavy"],
        "bench/run.py": ["browser", "bench", "clients"],
        "bench/README.md": ["browser"],
    }
    for page, expected in readers.items():
        (tree / page).write_text("1")
        after = hashes()
        assert [step for step in before if before[step] != after[step]] == expected, page
        before = after
    (tree / "setup.py").write_text("2")
    assert not {*before.values()} & {*hashes().values()}


def test_step_that_checks_nothing_says_so_and_has_no_row(tmp_path):
    shutil.copytree(ROOT / ".ci", tmp_path / ".ci")  # the script changes to the folder above it
    call = """source .ci/run
passed() { echo "row of $1"; }
lacking() ( unavailable "no tool on this machine"; echo unreached )
wrong() { false; }
right() { true; }
side_by_side lacking wrong right
"""
    result = subprocess.run(["bash", "-c", call], cwd=tmp_path, capture_output=True, text=True)
    assert result.returncode == 1
    assert "unreached" not in result.stdout
    for line in (
        "no tool on this machine: nothing was checked",
        "==== nothing was checked by: lacking",
        "row of right",
    ):
        assert line in result.stdout.splitlines()
    assert result.stdout.count("row of") == 1
    assert "==== failed: wrong," in result.stdout


def test_every_step_of_the_scripts_is_in_the_workflows():
    check, sanitize = (
        JOBS[file][job]["strategy"]["matrix"]["steps"] for file, job in (("check", "ci"), ("sanitize", "deep"))
    )
    assert set(" ".join(check).split()) == steps("run")
    # Steps that have their own machines in `check` and `wheels`, and the step that needs all of Debian's packages.
    others = {"pythons", "freethreaded", "repaired", "portable", "arm64", "oldest", "bigendian", "i386"}
    assert {*sanitize} == steps("deep") - others


def waited(jobs, name: str) -> set[str]:
    """Return the names of the job and of all jobs that it waits for."""
    return {name}.union(*(waited(jobs, other) for other in jobs[name].get("needs", [])))


@pytest.mark.parametrize(("file", "last"), [("check", "passed"), ("wheels", "site"), ("docs", "publish")])
def test_last_job_waits_for_all_others(file, last):
    assert waited(JOBS[file], last) == {*JOBS[file]}


def whole(folder: Path) -> list[Path]:
    """Create a release of empty files with the wheel names that cibuildwheel and auditwheel use."""
    fuller = {
        "manylinux": "manylinux_2_17_{0}.manylinux2014_{0}",
        "musllinux": "musllinux_1_2_{0}",
        "macosx": "macosx_11_0_{0}",
    }
    version, files = release.version(), []
    for part in RELEASE - {"sdist"}:
        python, _, platform = part.rpartition("-")
        system, _, machine = platform.partition("_")
        name = f"{python}-{fuller.get(system, platform).format(machine)}"
        files.append(folder / f"rankgain-{version}-{name}.whl")
    files.append(folder / f"rankgain-{version}.tar.gz")
    for file in files:
        file.touch()
    return files


def test_tag_is_rejected_while_a_page_states_no_release(tmp_path, monkeypatch):
    (tmp_path / "docs").mkdir()
    for name in ("README.md", "docs/start.md", "docs/index.md"):
        (tmp_path / name).write_text("pip install rankgain\n")
    (tmp_path / "CHANGES.md").write_text("## 0.2.0 (2027-01-31)\n")
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    monkeypatch.setattr(release, "ROOT", tmp_path)
    tag = f"v{release.version()}"
    assert release.faults([], tag=tag) == []
    (tmp_path / "CHANGES.md").write_text("## 0.2.0 (unreleased)\n")
    lines = {
        "README.md": "Once released: `pip install rankgain`. In a clone, `pip install .`",
        "docs/start.md": "For now, run this in a clone of the repository:",
        "docs/index.md": "From the first release on, `pip install rankgain`.",
    }
    for name, line in lines.items():
        (tmp_path / name).write_text(f"{line}\n")
    assert release.faults([], tag=tag) == [
        "CHANGES.md: ## 0.2.0 (unreleased)",
        *(f"{name}: {line}" for name, line in lines.items()),
    ]
    assert release.faults([]) == []


def test_complete_release_is_accepted(tmp_path, monkeypatch):
    monkeypatch.setattr(release, "leftovers", list)
    files = whole(tmp_path)
    tag = f"v{release.version()}"
    assert release.faults(files, whole=True, tag=tag) == []
    assert release.faults(files, tag="v0.0") == [f"v0.0: the version is {release.version()}"]
    for lost in files:
        (fault,) = release.faults([file for file in files if file != lost], whole=True)
        assert fault == f"{release.kind(lost)[0]}: missing"
        assert release.faults([file for file in files if file != lost]) == []


@pytest.mark.parametrize(
    ("name", "fault"),
    [
        ("rankgain-{}-cp311-abi3-linux_x86_64.whl", "cp311-abi3-linux_x86_64: not of a release"),
        ("rankgain-{}-cp312-cp312-win_amd64.whl", "cp312-cp312-win_amd64: not of a release"),
        ("rankgain-{}-cp314-abi3.abi3t-win_amd64.whl", "cp314-abi3-win_amd64+cp314-abi3t-win_amd64: not of a release"),
        ("rankgain-{}-cp311-abi3-macosx_11_0_universal2.whl", "cp311-abi3-macosx_universal2: not of a release"),
        ("rankgain-{}-1-py3-none-any.whl", "py3-none-any: 2 files"),
    ],
)
def test_release_with_other_files_is_rejected(tmp_path, name, fault):
    files = whole(tmp_path)
    files.append(tmp_path / name.format(release.version()))
    files[-1].touch()
    assert release.faults(files, whole=True) == [fault]


def test_release_with_another_version_or_a_large_wheel_is_rejected(tmp_path):
    files = whole(tmp_path)
    files[0] = files[0].rename(tmp_path / files[0].name.replace(release.version(), "9.9"))
    files[1].write_bytes(bytes(release.LARGEST + 1))
    assert release.faults(files, whole=True) == [
        f"{files[0].name}: the version is {release.version()}",
        f"{files[1].name}: {release.LARGEST + 1} bytes",
    ]
