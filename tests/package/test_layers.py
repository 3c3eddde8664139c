"""The layers of the package: which modules may import which, checked for every import statement in the sources."""

import ast
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest
from support.marks import in_one_case

import rankgain

PACKAGE = Path(rankgain.__file__).parent

# From the bottom up: a layer may import from the layers before it, and from itself without cycles.
LAYERS = (
    ("_codes", "choices", "errors", "scalars", "threads"),
    ("_reference", "_backend"),
    ("data",),
    ("metrics",),
    ("results",),
    ("rankings", "functions"),
    ("inputs",),
    ("comparison",),
    ("tools",),
    rankgain._MODULES - {"spark"},  # drop-ins, batches and the C functions
    ("spark",),
    ("cli", "__main__"),
    ("__init__",),
)
HEIGHT = {name: height for height, layer in enumerate(LAYERS) for name in layer}
# Modules that may import the Python backend and the compiled backend.
HALVES = {"_reference": {"_backend", "_reference"}, "_compiled": {"_backend", "capi", "_compiled"}}
OPTIONAL = {
    "pandas",
    "polars",
    "pyarrow",
    "scipy",
    "sklearn",
    "matplotlib",
    "tqdm",
    "lightgbm",
    "xgboost",
    "catboost",
    "jinja2",
    "pyspark",
    "torch",
    "torchmetrics",
}
# Modules that are imported only by plotting code or by users.
DRAWS = {"results.plotting", "comparison.plotting", "spark.evaluator", "torchmetrics"}


def name_of(path):
    return ".".join(path.relative_to(PACKAGE).with_suffix("").parts).removesuffix(".__init__")


FILES = {name_of(path): path for path in sorted(PACKAGE.rglob("*.py"))}


@cache
def tree_of(name):
    return ast.parse(FILES[name].read_text(encoding="utf-8"))


@cache
def imports(name):
    """Return (module, name) for each name that a file imports from the package; the name is None for a whole module."""
    names = []
    for node in ast.walk(tree_of(name)):
        if isinstance(node, ast.Import):
            names += [(alias.name.partition(".")[2], None) for alias in node.names if alias.name.startswith("rankgain")]
        elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "rankgain":
            base = node.module.partition(".")[2]
            for alias in node.names:
                inner = f"{base}.{alias.name}".lstrip(".")
                names.append((inner, None) if inner in FILES else (base, alias.name))
    return names


def layer(module):
    return module.split(".")[0] or "__init__"


def test_each_room_has_a_layer():
    assert {layer(name) for name in FILES} - {"_compiled"} <= {*HEIGHT}


@in_one_case("name", FILES)
def test_a_layer_imports_from_those_below(name):
    for module, _ in imports(name):
        room = layer(module)
        if room in HALVES:
            assert layer(name) in HALVES[room], f"{name} imports {module}; only {HALVES[room]} may"
        else:
            assert HEIGHT[room] <= HEIGHT[layer(name)], f"{name} imports {module}, which stands above it"


def room(module):
    """Return the folder of a module that stands in a folder of `data`, or else the module."""
    folder, _, name = module.rpartition(".")
    return folder if folder.startswith("data.") and name else module or "__init__"


@pytest.mark.parametrize("place", [str, room], ids=["files", "folders"])
def test_imports_have_no_cycle(place):
    graph = {}
    for name in FILES:
        modules = {place(module) or "__init__" for module, _ in imports(name)}
        graph.setdefault(place(name), set()).update(modules - ({place(name)} if place is room else set()))
    try:
        tuple(TopologicalSorter(graph).static_order())
    except CycleError as error:
        pytest.fail(f"these import each other: {' <- '.join(error.args[1])}")


BASE = {"data.ids", "data.groups", "data.judgments", "data.ragged", "data.source"}


@in_one_case("name", [name for name in FILES if name.startswith("data.advice.")])
def test_advice_imports_little_of_data(name):
    modules = {module for module, _ in imports(name) if layer(module) == "data" and room(module) != "data.advice"}
    assert modules <= BASE, f"{name} imports {modules - BASE}"


@cache
def defined(name):
    """Return the functions, classes and constants that a file defines, except private ones."""
    names = []
    for node in tree_of(name).body:
        targets = node.targets if isinstance(node, ast.Assign) else [node]
        names += [getattr(target, "name", getattr(getattr(target, "target", target), "id", None)) for target in targets]
    return {name for name in names if name and name[:1] != "_"}


# Names that several files define because a protocol says so, with what they are everywhere.
PROTOCOLS = {
    "add": "the function of a command's file that adds it to the parser",
    "evaluate": "the function of the package, and that of rankgain.spark for its data frames",
    "main": "the function that runs a command",
}


def test_a_name_has_one_meaning():
    """A family of terms has one name in both halves: `metrics.families` makes the term, the reference computes it."""
    places = {}
    for file in FILES:
        for name in defined(file) - {*PROTOCOLS}:
            if not (layer(file) == "_reference" and name in defined("metrics.families")):
                places.setdefault(name, []).append(file)
    repeats = {name: files for name, files in places.items() if len(files) > 1}
    assert len(places) > 1000
    assert not repeats, f"rename all but one, or make it private if no other file imports it: {repeats}"


@in_one_case("name", FILES)
def test_private_names_stay_in_their_file(name):
    private = [f"{module}.{what}" for module, what in imports(name) if what and what[:1] == "_" and what[:2] != "__"]
    assert not private, f"{name} imports {private}"


@in_one_case("name", FILES)
def test_optional_packages_are_imported_where_they_are_used(name):
    top = [node for node in tree_of(name).body if isinstance(node, (ast.Import, ast.ImportFrom))]
    modules = {alias.name for node in top if isinstance(node, ast.Import) for alias in node.names}
    modules |= {node.module or "" for node in top if isinstance(node, ast.ImportFrom)}
    packages = {module.split(".")[0] for module in modules} & OPTIONAL
    assert not packages or name in DRAWS, f"{name} imports {packages} when it is imported"


@pytest.mark.checkout
def test_each_compiled_file_has_its_page_of_the_reference():
    folder = Path(__file__).parents[2] / "src" / "rankgain"
    compiled = {path.stem for path in (folder / "_compiled").glob("*.p[yx][xi]")}
    assert compiled
    assert compiled <= {path.stem for path in (folder / "_reference").glob("[a-z]*.py")}
