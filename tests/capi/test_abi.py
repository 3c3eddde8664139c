"""The signatures, constants and structure that compiled code of other packages relies on.

Entries may be added to signatures.json, but never changed or removed; rankgain.h explains why. Run `python
tests/support/c_functions.py` to add new entries.
"""

import ctypes
import json
import re
import runpy
import sys
from pathlib import Path

import pytest
from support.c_functions import (
    FROZEN,
    FUNCTIONS,
    HEADER,
    SIGNATURES,
    STRUCTURE,
    Function,
    capsule_name,
    capsule_pointer,
    constants,
    current,
)

from rankgain import capi

PACKAGE = Path(capi.__file__).parent
PXD = (PACKAGE / "capi.pxd").read_text()


def test_frozen_signatures_are_unchanged():
    frozen, now = json.loads(FROZEN.read_text()), current()
    for kind, expected in frozen.items():
        assert {name: now[kind].get(name) for name in expected} == expected
    # New functions come last: any other position would move existing members of the structure.
    assert list(now["functions"])[: len(frozen["functions"])] == list(frozen["functions"])


def test_header_declares_the_compiled_functions():
    """The header declares the signatures by which Cython, Numba and SciPy know the functions."""
    assert current()["functions"] == SIGNATURES


def test_pxd_declares_the_functions_in_the_order_of_the_header():
    declared = re.findall(r"^cdef ([\w *]+)\brankgain_(\w+)\(([^)]*)\) noexcept nogil$", PXD, re.MULTILINE)
    declared = {name: Function.of(result, parameters) for result, name, parameters in declared}
    assert list(declared.items()) == list(FUNCTIONS.items())
    assert constants(PXD) == constants(HEADER)


def test_module_has_the_constants_of_the_header():
    assert {name: getattr(capi, name) for name in constants(HEADER)} == constants(HEADER)
    assert sys.maxsize == capi.RANKGAIN_NO_CUTOFF  # equals PTRDIFF_MAX


def test_structure_points_to_the_functions():
    class Structure(ctypes.Structure):
        _fields_ = (
            ("abi_version", ctypes.c_uint32),
            ("struct_size", ctypes.c_uint32),
            *((name, ctypes.c_void_p) for name in FUNCTIONS),
        )

    # all members of the header's structure have been found
    assert STRUCTURE.count(";") == len(Structure._fields_)
    assert re.findall(r"uint32_t (\w+);", STRUCTURE) == ["abi_version", "struct_size"]
    assert capsule_name(capi._C_API) == b"rankgain.capi._C_API"
    structure = Structure.from_address(capsule_pointer(capi._C_API))
    assert structure.abi_version == int(current()["defines"]["RANKGAIN_ABI_VERSION"])
    assert structure.struct_size == ctypes.sizeof(Structure)
    for name in FUNCTIONS:
        function = f"rankgain_{name}"
        assert getattr(structure, name) == capsule_pointer(capi.__pyx_capi__[function]) == capi.address(function)
    assert len({getattr(structure, name) for name in FUNCTIONS}) == len(FUNCTIONS)


def test_import_without_the_extension_names_the_reason():
    """Without the compiled extension, Python imports `capi.py`, which raises an error."""
    with pytest.raises(ImportError, match="no compiled extension"):
        runpy.run_path(str(PACKAGE / "capi.py"))
