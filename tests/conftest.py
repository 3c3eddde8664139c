"""Every behavioural test takes the fixture `backend` and so runs once on each available backend.

RANKGAIN_BACKEND=compiled or =python selects one backend; without compiled modules only Python is available. Tests
marked `both` compare the two and are left out if only one is tested. Tests that cannot run are not collected rather
than skipped, and the header lists what is missing.
"""

import gc
import os
import re
from contextlib import chdir
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from support import TESTS
from support.differences import differences
from support.effects import UNCHANGED, is_close, result_or_error
from support.rejections import call_text, has_parts, outcome, snapshot
from support.wheels import compiled, compiled_wheel, pure, pure_wheel, sdist  # noqa: F401

from rankgain import _backend, functions
from rankgain.metrics import discounts

BUILT = ["python"] if find_spec("rankgain._compiled.walk") is None else ["compiled", "python"]
FORCED = os.environ.get("RANKGAIN_BACKEND")
BACKENDS = [name for name in BUILT if FORCED in (None, "", "auto", name)]

# Optional packages, which are installed neither with rankgain nor for the tests of wheels.
OPTIONAL = "catboost", "cibuildwheel", "jinja2", "lightgbm", "matplotlib", "pandas", "polars", "pyarrow", "pyspark"
OPTIONAL += "pyndeval", "ruamel", "scipy", "sklearn", "torch", "torchmetrics", "xgboost", "rankgain._compiled.walk"
MISSING = {package for package in OPTIONAL if find_spec(package) is None}
# Files and folders that need an optional package but do not import it at their top level.
NEEDS = {
    "capi/test_page_example.py": {"rankgain._compiled.walk"},
    "comparison/test_report.py": {"jinja2", "matplotlib"},
    "inputs/test_duplicates.py": {"pandas", "polars", "pyarrow"},
    "package/test_release.py": {"cibuildwheel"},
    "spark": {"pyspark"},  # large, and requires Java; .ci/run uses a separate environment
    "test_drop_in_options.py": {"sklearn"},
    "tools/test_scorer_options.py": {"sklearn"},
}
IMPORT = re.compile(r"^(?:from|import) ([\w.]+)(?: import (?:\(([^)]*)\)|(.*)))?", re.MULTILINE)


@cache
def imported(path: Path) -> set[str]:
    """Return the modules that a file imports at its top level, directly or through `support`."""
    names = set()
    for module, *several in IMPORT.findall(path.read_text(encoding="utf-8")):
        names |= {module, *(f"{module}.{name}" for name in re.findall(r"[\w]+", "".join(several)))}
    parts = [TESTS / f"{name.replace('.', '/')}.py" for name in names if name.startswith("support.")]
    return names.union(*(imported(part) for part in parts if part.exists() and part != path))


def needed_by_file(path: Path) -> set[str]:
    modules = {"rankgain._compiled.walk" if name == "rankgain.capi" else name.split(".")[0] for name in imported(path)}
    return modules | NEEDS.get(path.relative_to(TESTS).as_posix(), set())


# Files and folders are not collected if a package that they need is missing.
collect_ignore = [path for path, packages in NEEDS.items() if MISSING & packages]
if MISSING:
    files = sorted(path for path in TESTS.rglob("test_*.py") if MISSING & needed_by_file(path))
    collect_ignore += [path.relative_to(TESTS).as_posix() for path in files]
if "SITE_FOLDER" not in os.environ:  # set by `.ci/deep browser` to the folder of the built site
    collect_ignore += ["package/test_site_in_a_browser.py", "comparison/test_report_in_a_browser.py"]

usual = settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
settings.register_profile("default", usual, max_examples=8, derandomize=True)
settings.register_profile("more", usual, max_examples=100, derandomize=True)
settings.register_profile("deep", usual, max_examples=1000)
settings.register_profile("few", usual, max_examples=5)
os.environ["COLUMNS"] = "0"  # do not fit tables to the terminal in which the tests run

settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))


def pytest_report_header() -> str:
    missing = (
        f"; missing: {', '.join(sorted(MISSING))}; not collected: {', '.join(sorted({*collect_ignore}))}"
        if MISSING
        else ""
    )
    return f"rankgain backends: {', '.join(BACKENDS)}{missing}"


@pytest.hookimpl(tryfirst=True)  # runs before pytest-xdist reads the groups
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    for item in items:  # one group per wheel, so that `--dist loadgroup` builds each wheel once
        wheel = next((name for name in ("compiled_wheel", "pure_wheel") if name in item.fixturenames), None)
        if wheel:
            item.add_marker(pytest.mark.xdist_group(wheel))
    left_out = {item for item in items if not all(map(find_spec, needed_by(item)))}
    if config.option.keyword or {config.invocation_params.dir / path for path in config.args} != {TESTS}:
        left_out |= {item for item in items if item.get_closest_marker("whole_run")}
    if len(BACKENDS) < 2:
        left_out |= {item for item in items if item.get_closest_marker("both")}
        if FORCED == "python" != BUILT[0]:  # tests without the fixture `backend` use the compiled one
            ours = [item for item in items if item.path.is_relative_to(TESTS)]  # excludes tests of other packages
            left_out |= {item for item in ours if "backend" not in item.fixturenames}
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in left_out]


def pytest_make_parametrize_id(val: object, argname: str) -> str | None:
    """Use the message of a row `(message, exception, *values)` as the test id."""
    if argname == "row" and isinstance(val, tuple) and isinstance(val[0], str):
        return val[0].replace("…", "...")
    return None


def pytest_assertrepr_compare(op: str, left: object, right: object) -> list[str] | None:
    """Say by metric and query how two Evaluations or Summaries differ."""
    lines = differences(left, right) if op == "==" else []
    return ["two that differ:", *lines] if lines else None


def needed_by(item: pytest.Item) -> tuple[str, ...]:
    """Return the packages named in `needs` marks, and the module that the fixture `cpu` needs."""
    packages = tuple(package for mark in item.iter_markers("needs") for package in mark.args)
    return (*packages, "rankgain._compiled.walk") if "cpu" in item.fixturenames else packages


# The discounts and settings that a backend has computed, so that none is used on the other one.
TABLES: dict[str, dict] = {name: {} for name in BUILT}
SETTINGS: dict[str, dict] = {name: {} for name in BUILT}


def switch(name: str) -> None:
    if name != _backend.name:
        _backend.use(name)
    discounts._tables, functions._settings_cache = TABLES[name], SETTINGS[name]


CHOSEN = _backend.name


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown() -> None:
    """Fail a test that does not restore the backend, because later tests would run on the wrong one."""
    assert _backend.name == CHOSEN


@pytest.fixture(params=BACKENDS)
def backend(request: pytest.FixtureRequest):
    before = _backend.name
    switch(request.param)
    yield request.param
    switch(before)


@pytest.fixture
def on_both():
    """Call a function on each available backend.

    In a test marked `both`, write `compiled, python = on_both(function)`.
    """
    before = _backend.name

    def call(function):
        results = []
        for name in BACKENDS:
            switch(name)
            results.append(function())
        return results

    yield call
    switch(before)


@pytest.fixture
def rejects(on_both):
    """Check that a call is refused, as in `rejects(ValueError, "k must be … positive", rg.dcg, [1, 0], k=0)`.

    On each backend, the exception has exactly this type, and its text contains the parts of the message in order; `…`
    stands for any text. The texts of the backends are equal, and no argument is changed.
    """

    def check(error, message, function, *args, **options):
        before = snapshot([args, options])
        outcomes = dict(zip(BACKENDS, on_both(lambda: outcome(lambda: function(*args, **options))), strict=True))
        for name, result in outcomes.items():
            if result.kind is not error or not has_parts(result.text, message):
                pytest.fail(
                    f"{call_text(function, args, options)} on {name}\n"
                    f"expected {error.__name__}: {message}\n"
                    f"{'returned' if result.kind == 'no error' else 'raised  '} {result.shown()}",
                    pytrace=False,
                )
        if len({result.text for result in outcomes.values()}) > 1:
            texts = "\n".join(f"{name}: {result.text}" for name, result in outcomes.items())
            pytest.fail(f"{call_text(function, args, options)}: the backends differ\n{texts}", pytrace=False)
        if snapshot([args, options]) != before:
            pytest.fail(f"{call_text(function, args, options)} changes an argument", pytrace=False)

    return check


@pytest.fixture
def gives(on_both):
    """Check that a call returns the expected value, as in `gives(1.5, rg.cg, [1, 0.5])`.

    The result must be the same on each backend, and no argument may be changed.
    """

    def check(expected, function, *args, **options):
        before = snapshot([args, options])
        outcomes = on_both(lambda: outcome(lambda: function(*args, **options)))
        for name, result in zip(BACKENDS, outcomes, strict=True):
            if result != ("no error", repr(expected), ""):
                pytest.fail(
                    f"{call_text(function, args, options)} on {name}\nexpected {expected}\nreturned {result.shown()}",
                    pytrace=False,
                )
        if snapshot([args, options]) != before:
            pytest.fail(f"{call_text(function, args, options)} changes an argument", pytrace=False)

    return check


@pytest.fixture
def check_option(on_both):
    """Check the effect of an option, as in `check_option(rg.dcg, "k", 1, 3.0, [3, 2])`.

    On each backend, the call gives `expected`, to 1e-12, and another result without the option; `UNCHANGED` stands for
    the result without the option. The results of the backends have the same bits.
    """

    def check(function, option, value, expected, *args, **given):
        options = {**given, option: value}

        def results():
            without = result_or_error(lambda: function(*args, **given))
            return result_or_error(lambda: function(*args, **options)), without

        outcomes = dict(zip(BACKENDS, on_both(results), strict=True))
        for name, (result, without) in outcomes.items():
            same = repr(result) == repr(without)
            if not same if expected is UNCHANGED else same or not is_close(result, expected):
                pytest.fail(
                    f"{call_text(function, args, options)} on {name}\n"
                    f"expected {'the same as without it' if expected is UNCHANGED else expected}\n"
                    f"result   {result}; {'the same' if same else without} without {option}",
                    pytrace=False,
                )
        if len(set(map(repr, outcomes.values()))) > 1:
            texts = "\n".join(f"{name}: {result}" for name, (result, _) in outcomes.items())
            pytest.fail(f"{call_text(function, args, options)}: the backends differ\n{texts}", pytrace=False)

    return check


def pytest_collection_finish() -> None:
    """Freeze the collected tests, so that the garbage collector skips objects that live until the end."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(10_000)  # tests make many objects and few cycles


@pytest.fixture(scope="module")
def own_folder(tmp_path_factory: pytest.TempPathFactory):
    """Change to a new folder for a module that writes files."""
    with chdir(tmp_path_factory.mktemp("files")):
        yield


@pytest.fixture(params=["baseline", "avx2"])
def cpu(request: pytest.FixtureRequest):
    """Use the loops for a CPU level, or the baseline if the CPU lacks that level."""
    kernels = import_module("rankgain._compiled.walk")
    level = kernels.use_cpu(request.param) or kernels.use_cpu("baseline")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RANKGAIN_CPU", level)  # otherwise `on_both` would select the best level again
        yield
    kernels.use_cpu(None)
