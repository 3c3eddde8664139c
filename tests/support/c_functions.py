"""Call the C functions with the signatures declared in rankgain.h, and detect out-of-bounds access.

`python tests/support/c_functions.py` adds new functions to the frozen signatures.
"""

import ctypes
import json
import math
import re
import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np

import rankgain as rg
from rankgain import capi

NO_CUTOFF = capi.RANKGAIN_NO_CUTOFF
FROZEN = Path(__file__).parents[1] / "capi" / "signatures.json"
HEADER = re.sub(r"/\*.*?\*/", "", Path(rg.get_include(), "rankgain.h").read_text(), flags=re.DOTALL)


def cython_type(declared):
    """Return a type as Cython spells it in `__pyx_capi__`: `const double *` becomes `double const *`."""
    words = re.findall(r"\w+|\*", declared)
    (base,) = [word for word in words if word not in ("const", "*")]
    return base.replace("ptrdiff_t", "Py_ssize_t") + " const" * ("const" in words) + " *" * words.count("*")


class Function(NamedTuple):
    """The signature of a declared function, with types as Cython spells them in `__pyx_capi__`."""

    result: str
    parameters: dict[str, str]

    @classmethod
    def of(cls, result, parameters):
        declared = [re.fullmatch(r"(.*?)(\w+)", text.strip()) for text in parameters.split(",")]
        return cls(cython_type(result), {match[2]: cython_type(match[1]) for match in declared})

    def __str__(self):
        return f"{self.result}{'' if self.result.endswith('*') else ' '}({', '.join(self.parameters.values())})"


STRUCTURE = re.search(r"typedef struct \{(.*)\} rankgain_api;", HEADER, re.DOTALL)[1]
FUNCTIONS = {
    name: Function.of(result, parameters)
    for result, name, parameters in re.findall(r"(\w[\w *]*)\(\*(\w+)\)\(([^)]*)\);", STRUCTURE)
}


# load the functions


# Separate prototypes, because changing a function of `ctypes.pythonapi` affects the whole process.
capsule_name = ctypes.PYFUNCTYPE(ctypes.c_char_p, ctypes.py_object)(("PyCapsule_GetName", ctypes.pythonapi))
_pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi)
)


def capsule_pointer(capsule):
    return _pointer(capsule, capsule_name(capsule))


SIGNATURES = {name: capsule_name(capsule).decode() for name, capsule in capi.__pyx_capi__.items()}
TYPES = {
    "int": ctypes.c_int,
    "Py_ssize_t": ctypes.c_ssize_t,
    "double": ctypes.c_double,
    "char const *": ctypes.c_char_p,
}


def prototype(signature, pointer=ctypes.c_void_p):
    result, parameters = re.fullmatch(r"(.*?) ?\((.*)\)", signature).groups()
    return ctypes.CFUNCTYPE(*(TYPES.get(declared, pointer) for declared in (result, *parameters.split(", "))))


C = {name.removeprefix("rankgain_"): prototype(signature)(capi.address(name)) for name, signature in SIGNATURES.items()}


# call the functions

DTYPES = {"double": np.float64, "float": np.float32, "Py_ssize_t": np.intp, "void": np.uint8}
LISTS = ("relevance", "scores", "grades", "judged")
DEFAULTS = {
    "kind": 0,
    "base": 2.0,
    "k": NO_CUTOFF,
    "gain": 0,
    "discount": None,
    "ideal": capi.RANKGAIN_JUDGED,
    "empty": 0.0,
    "rel": math.nan,
    "ties": capi.RANKGAIN_AVERAGE,
    "sigma": 1.0,
    "delta": capi.RANKGAIN_DELTA_CUT,
    "normalize": capi.RANKGAIN_NOT_NORMALIZED,
}
# Pairs (number of guard bytes around each argument, initial value of all scratch and output bytes). Without guard
# bytes, each argument has its own allocation, and sanitisers detect out-of-bounds access. A double whose bytes are all
# 0xFF is NaN, which shows in the results.
SURROUNDINGS = ((64, 0xFF), (0, 0x2A))


class Memory:
    """A copy of `content` between guard bytes, starting `shift` bytes past a multiple of 64."""

    def __init__(self, content, guard, shift=0):
        self.content = bytes(content)
        self.block = ctypes.create_string_buffer(2 * guard + shift + len(content) + (64 if guard else 0))
        self.start = ctypes.addressof(self.block) + shift
        if guard:
            self.start = (ctypes.addressof(self.block) + 127) // 64 * 64 + shift
        ctypes.memset(self.block, 0xFF, len(self.block))
        ctypes.memmove(self.start, self.content, len(content))
        self.before = self.block.raw

    def read(self, dtype):
        return np.frombuffer(ctypes.string_at(self.start, len(self.content)), dtype).tolist()

    def intact(self, *, written):
        """Return whether the guard bytes are unchanged. Unless `written` is true, the content must be unchanged too."""
        if written:
            ctypes.memmove(self.start, self.content, len(self.content))
        return self.block.raw == self.before


def laid_out(values, stride, dtype):
    """Return the numbers as bytes at the given stride, and the byte offset of the first number.

    The gaps between the numbers are filled with NaN, or with -1 for integers.
    """
    values = np.asarray(values, dtype)
    if not len(values) or not stride:
        return values[:1].tobytes(), 0
    spaced = np.full((len(values) - 1) * abs(stride) + 1, -1 if dtype is np.intp else np.nan, dtype)
    spaced[:: abs(stride)] = values[:: int(math.copysign(1, stride))]
    return spaced.tobytes(), (len(spaced) - 1) * spaced.itemsize if stride < 0 else 0


def completed(given):
    """Add defaults for the missing arguments. Lengths default to the lengths of the given lists."""
    given = DEFAULTS | given
    lengths = {name: len(given[name]) for name in (*LISTS, "discount", "offsets") if given.get(name) is not None}
    given.setdefault("n", next((lengths[name] for name in LISTS if name in lengths), 0))
    given.setdefault("n_judged", lengths.get("judged", 0))
    given.setdefault("n_discount", lengths.get("discount", 0))
    given.setdefault("queries", lengths.get("offsets", 1) - 1)
    return given


def room(parameter, given):
    """Return the size of an output in numbers, or the size of scratch in bytes."""
    if parameter == "scratch":
        ends = [given[name] for name in ("offsets", "judged_offsets") if given.get(name) is not None]
        lists = [given[name] for name in LISTS if given.get(name) is not None]
        longest = max([max(np.diff(bounds), default=0) for bounds in ends] or map(len, lists), default=0)
        if given.get("gains") is not None:  # for gradient functions
            return C["lambda_scratch_size"](int(longest))
        return max(0, C["scratch_size"](int(longest), given["k"]))
    returned = min(given["n"], given["k"])
    rooms = {"value": 1, "values": given["queries"], "order": returned, "first": returned, "last": returned}
    return max(0, rooms.get(parameter, given["n"]))


def call(name, shift=1, **given):
    """Call a C function with named arguments, and return its status and its outputs.

    None stands for NULL. Scratch has exactly the required size, at an odd address if `shift` is odd. The initial
    contents of scratch and outputs must not affect the result.
    """
    answers = [_call(name, completed(given), shift, *surroundings) for surroundings in SURROUNDINGS]
    assert len({repr(answer) for answer in answers}) == 1
    return answers[0]


def _call(name, given, shift, guard, filling):
    arguments, inputs, outputs = [], [], {}
    types = list(FUNCTIONS[name].parameters.items())
    for position, (parameter, kind) in enumerate(types):
        if not kind.endswith("*"):
            arguments.append(given.get(parameter, 1))
        elif parameter in given and given[parameter] is None:
            arguments.append(None)
        elif "const" in kind:
            stride = next((given.get(other, 1) for other, _ in types[position:] if other.endswith("stride")), 1)
            content, first = laid_out(given[parameter], stride, DTYPES[kind.split()[0]])
            inputs.append(Memory(content, guard))
            arguments.append(inputs[-1].start + first)
        else:
            dtype = np.dtype(DTYPES[kind.split()[0]])
            content = bytes([filling]) * (room(parameter, given) * dtype.itemsize)
            outputs[parameter] = Memory(content, guard, shift if parameter == "scratch" else 0), dtype
            arguments.append(outputs[parameter][0].start)
    status = C[name](*arguments)
    results = {output: memory.read(dtype) for output, (memory, dtype) in outputs.items() if output != "scratch"}
    assert all(memory.intact(written=False) for memory in inputs)
    assert all(memory.intact(written=True) for memory, _ in outputs.values())
    return status, *(result[0] if output == "value" else result for output, result in results.items())


def constants(text):
    return {name: int(value) for name, value in re.findall(r"(RANKGAIN_\w+) = (-?\d+)", text)}


def current():
    """Return the current defines, constants and function signatures of rankgain.h."""
    return {
        "defines": dict(re.findall(r"#define (RANKGAIN_\w+) (\S+)", HEADER)),
        "constants": constants(HEADER),
        "functions": {f"rankgain_{name}": str(function) for name, function in FUNCTIONS.items()},
        "parameters": {f"rankgain_{name}": ", ".join(function.parameters) for name, function in FUNCTIONS.items()},
    }


if __name__ == "__main__":
    frozen, now = json.loads(FROZEN.read_text()), current()
    if changed := [name for kind, values in frozen.items() for name in values if now[kind].get(name) != values[name]]:
        sys.exit(f"frozen signatures have changed: {', '.join(changed)}")
    FROZEN.write_text(json.dumps(now, indent=2) + "\n")
