"""Code that runs without the GIL must neither call Python functions nor allocate memory.

The tests check the C code that Cython generates with the directives of the build, because Cython may acquire the GIL
implicitly: to raise an exception, to check a divisor, or to count references to a memoryview. Only the function
`interrupted`, which is called between the terms of a long query, acquires the GIL by its declaration.
"""

import ast
import re
import shutil
import subprocess
import sys

import pytest
from support import ROOT

pytestmark = pytest.mark.checkout

PACKAGE = ROOT / "src" / "rankgain"
MODULES = sorted(PACKAGE.rglob("*.pyx"))
SOURCES = [path for pattern in ("*.pyx", "*.pxi", "*.pxd") for path in sorted(PACKAGE.rglob(pattern))]

# Functions that use only plain memory but are not declared `noexcept nogil`, with the reason for each.
NO_KERNELS = {
    **dict.fromkeys(
        ["columns.prepare", "lists.reserve_list", "matrix.prepare_matrix"], "reserves scratch: MemoryError"
    ),
    "numbers.reserve": "reserves scratch: MemoryError",
    **dict.fromkeys(["walk.make_reader", "walk.reserve_memory"], "reserves scratch: MemoryError"),
    "lines.read_float": "calls Python's own converter",
    **dict.fromkeys(["numbers.close_numbers", "walk.release_views"], "releases the buffers of objects"),
    "walk.close_reader": "frees what the walk over dicts used, which holds the GIL",
    "walk.answer": "makes a tuple",
    "walk.raised": "raises what a signal's handler raised",
    "dicts.append": "grows: MemoryError",
}
# Functions that take buffers, are called from Python and never release the GIL, with the reason for each.
HOLDERS = {
    **dict.fromkeys(["dicts.pack_ids", "dicts.pack_integers"], "walks lists"),
    "dicts.of": "copies two arrays",
    "lists.__cinit__": "keeps the view of a table",
    "walk.hits": "`run_buffers` releases it; a walk over dicts has to hold it",
    "walk.metrics_from_hits": "stands between calls of a callable, which need the GIL",
}
ALLOCATORS = {
    "walk_make_chains": "is for those that reserve scratch, and tells them whether there was room",
    "walk_number_runs": "its table grows with the ids; it returns -1 without memory",
}


# the Cython sources

FUNCTION = re.compile(
    r"^(?P<indent> *)(?P<kind>cdef|def) [^\n(=]*?(?P<name>\w+)\((?P<parameters>[^()]*)\)(?P<words>[^\n:]*):\n"
    r"(?P<body>(?:(?P=indent) +[^\n]+\n|\n)+)",
    re.MULTILINE,
)
FUNCTIONS = {
    f"{path.stem}.{function['name']}": function
    for path in SOURCES
    for function in FUNCTION.finditer(path.read_text(encoding="utf-8"))
}
# maps each included file to the module that it is compiled into
HOME = {
    part: module.stem
    for module in MODULES
    for part in re.findall(r'^include "(\w+)\.pxi"', module.read_text(encoding="utf-8"), re.MULTILINE)
}
KERNELS = {name for name, function in FUNCTIONS.items() if function["words"] == " noexcept nogil"}


def taking(kind, pattern):
    return {
        name
        for name, function in FUNCTIONS.items()
        if function["kind"] == kind and re.search(pattern, function["parameters"])
    }


def test_functions_with_pointers_are_nogil():
    others = taking("cdef", r"\*|\[::1\]") - taking("cdef", r"\b(object|dict|list|tuple|PyObject)\b") - KERNELS
    assert others == {*NO_KERNELS}


def test_functions_over_buffers_release_the_gil():
    holders = {name for name in taking("def", r"\[::1\]") if "with nogil:" not in FUNCTIONS[name]["body"]}
    assert holders == {*HOLDERS}


# the generated C code

KERNEL = re.compile(
    r"^static [^\n;]*__pyx_f_8rankgain_(?:9_compiled_)?\d+(\w+)\([^\n;]*\) \{\n.*?^\}\n", re.MULTILINE | re.DOTALL
)
METHOD = re.compile(r"_\d+[A-Z]\w*?_")  # the class name before the method name
BLOCK = re.compile(r"PyEval_SaveThread\(\);\s*__Pyx_FastGIL_Remember\(\);(.*?)__Pyx_FastGIL_Forget\(\);", re.DOTALL)
COMMENT = re.compile(r'/\*(?: "rankgain/([^"\n]+":\d+))?.*?\*/', re.DOTALL)
PYTHON = re.compile(r"\b_?(?:Py|__Pyx|__PYX)(?!_ssize_t\b|_buffer\b|_memviewslice\b)\w*")  # except C-level types
ALLOCATION = re.compile(r"\b(?:malloc|calloc|realloc)\b")


@pytest.fixture(scope="module")
def generated(tmp_path_factory):
    """Generate the C code of all modules with the directives of setup.py."""
    (directives,) = [
        node.value
        for node in ast.parse((ROOT / "setup.py").read_text(encoding="utf-8")).body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "DIRECTIVES"
    ]
    options = [f"-X{name}={value}" for name, value in eval(ast.unparse(directives), {"DEBUG": False}).items()]
    folder = tmp_path_factory.mktemp("c")
    shutil.copytree(PACKAGE, folder / "rankgain", ignore=shutil.ignore_patterns("*.so", "*.pyd", "__pycache__"))
    sources = [f"rankgain/{path.relative_to(PACKAGE)}" for path in MODULES]
    command = [sys.executable, "-m", "cython", *options, "--shared=rankgain._compiled._cyutility", *sources]
    process = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert process.returncode == 0, process.stderr
    return "".join((folder / source).with_suffix(".c").read_text(encoding="utf-8") for source in sources)


def forbidden(pattern, name, code):
    """Yield each forbidden word in C code with its source line, or with the function name if no line is known."""
    line = name
    for comment, part in zip([None, *COMMENT.finditer(code)], COMMENT.sub("\0", code).split("\0"), strict=True):
        line = comment[1] if comment and comment[1] else line
        yield from (f"{line}: {word}" for word in pattern.findall(part))


def test_kernels_run_without_the_gil(generated):
    kernels = {f"{HOME.get(part, part)}_{name}" for part, name in (name.split(".") for name in KERNELS)}
    named = ((METHOD.sub("_", match[1]), match[0]) for match in KERNEL.finditer(generated))
    pieces = [(name, code) for name, code in named if name in kernels]
    assert {name for name, _ in pieces} == kernels
    blocks = [("", code) for code in BLOCK.findall(generated)]
    assert len(blocks) == sum(function["body"].count("with nogil:") for function in FUNCTIONS.values())
    pieces += blocks
    assert [word for piece in pieces for word in forbidden(PYTHON, *piece)] == []
    assert [word for piece in pieces if piece[0] not in ALLOCATORS for word in forbidden(ALLOCATION, *piece)] == []
