"""Gain functions, which map the grades of documents to their values."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from rankgain import _backend, _codes
from rankgain._codes import ABOVE_MAX_GRADE, BAD_GAIN, LARGE_GRADE, MISSING_GAIN
from rankgain.choices import GainName
from rankgain.data.arrays import array_of, check_unmasked
from rankgain.data.ragged import to_float64
from rankgain.errors import InputError, short
from rankgain.scalars import Floats, real

GainKind = GainName | Mapping[Any, float] | Sequence[float] | Callable[[Any], Any]


class Gain(NamedTuple):
    """A hashable gain function; metrics with the same gain share its values.

    `kind` is "linear", "exponential", "relevant" (1 above the grade in `table`, else 0), "irrelevant" (1 up to that
    grade, else 0), "stop" (the probability (2^r − 1) / 2^max, where max is the grade in `table`), "table" or
    "callable". Documents with an "irrelevant" gain of 1 are unwanted, so ties="best" ranks them last.
    """

    kind: str
    table: tuple[tuple[float, float], ...] = ()
    function: Callable[[Any], Any] | None = None

    @staticmethod
    def of(kind: GainKind | Gain) -> Gain:
        if isinstance(kind, Gain):
            return kind
        if isinstance(kind, str):
            if kind.lower() not in _NAMED:
                near = next((name for name in _NAMED if kind and name.startswith(kind.lower())), "")
                hint = f"; did you mean {near!r}?" if near else ""
                raise ValueError(
                    f"gain must be 'linear', 'exponential', 'binary', a mapping or sequence by grade, or a callable, "
                    f"not {kind!r}{hint}"
                )
            return _NAMED[kind.lower()]
        if isinstance(kind, Mapping):
            return Gain("table", _table(kind.items()))
        if isinstance(kind, np.ndarray) and kind.ndim == 1:
            return Gain("table", _table(enumerate(kind.tolist())))
        if isinstance(kind, Sequence) and not isinstance(kind, (bytes, bytearray)):
            return Gain("table", _table(enumerate(kind)))
        if callable(kind):
            return Gain("callable", function=kind)
        raise TypeError(
            "gain must be 'linear', 'exponential', 'binary', a mapping or sequence by grade, or a callable, "
            f"not {type(kind).__name__}"
        )

    @staticmethod
    def relevant(above: float) -> Gain:
        """Return a gain that is 1 for grades above `above` and 0 for all other grades."""
        return Gain("relevant", ((above, 1.0),))

    @staticmethod
    def irrelevant(above: float) -> Gain:
        """Return a gain that is 1 for judged documents with a grade of at most `above` and 0 for all others."""
        return Gain("irrelevant", ((above, 1.0),))

    @staticmethod
    def stop(max_grade: float) -> Gain:
        """Return the gain that is the probability that a document satisfies a reader (Chapelle et al. 2009, eq. 4)."""
        return Gain("stop", ((max_grade, 1.0),))

    @property
    def monotone(self) -> bool:
        """Whether the gain never decreases as the grade increases."""
        return self.kind not in ("irrelevant", "table", "callable")

    @property
    def level(self) -> float:
        """The grade that a gain of kind "relevant", "irrelevant" or "stop" refers to; 0 for other kinds."""
        return self.table[0][0] if self.kind in ("relevant", "irrelevant", "stop") else 0.0

    @property
    def argument(self) -> Any:
        """The value of the `gain` argument that creates this gain, or the gain itself if there is none."""
        if self.kind == "table":
            return dict(self.table)
        if self.kind == "callable":
            return self.function
        return next((name for name, gain in _NAMED.items() if gain == self), self)

    @property
    def code(self) -> int:
        """The code that identifies this kind of gain in kernels."""
        return _CODES[self.kind]

    @property
    def exponential(self) -> bool:
        return self.kind == "exponential"

    @property
    def in_kernel(self) -> bool:
        """Whether kernels compute the gain; such a gain increases with the grade and is 0 at grade 0."""
        return self.kind in ("linear", "exponential")

    def counts_zeros(self) -> bool:
        """Return whether the gain of grade 0 is nonzero or invalid."""
        if self.kind != "relevant" and self.monotone:
            return False
        zero = np.zeros(1)
        with np.errstate(all="ignore"):  # a callable may be undefined at 0
            return self.first_error(zero) is not None or self.apply(zero)[0] != 0.0

    def first_error(self, grades: Floats) -> tuple[int, int, object] | None:
        """Return (code, index, detail) for the first grade without a valid gain, or None if all gains are valid."""
        try:
            self.apply(grades)
        except InputError as error:
            return error.code, error.position, error.detail
        return None

    def apply(self, grades: Floats) -> Floats:
        """Return the gain of each grade; grades must be finite and not negative.

        A grade without a valid gain raises an InputError.
        """
        if self.kind == "linear":
            return grades
        if self.kind == "exponential":
            gains = np.empty_like(grades)
            index = _backend.sums.fill_exponential(grades, gains)
            if index >= 0:
                raise InputError(LARGE_GRADE, 0, index)
            return gains
        if self.kind == "relevant":
            return (grades > self.level).astype(np.float64)
        if self.kind == "irrelevant":
            return (grades <= self.level).astype(np.float64)
        if self.kind == "stop":
            return self._stop(grades, self.level)
        gains = self._look_up(grades) if self.kind == "table" else self.called(grades)
        bad = np.flatnonzero(~(np.isfinite(gains) & (gains >= 0.0)))
        if len(bad):
            detail = f"{float(gains[bad[0]])!r} for the grade {float(grades[bad[0]])!r}"
            raise InputError(BAD_GAIN, 0, int(bad[0]), detail)
        return gains

    def _stop(self, grades: Floats, highest: float) -> Floats:
        above = np.flatnonzero(grades > highest)
        if len(above):
            detail = f"{short(float(grades[above[0]]))}, and max_grade is {short(highest)}"
            raise InputError(ABOVE_MAX_GRADE, 0, int(above[0]), detail)
        chances = np.empty(len(grades) + 1)
        _backend.sums.fill_exponential(np.append(grades, highest), chances)
        stops: Floats = chances[:-1] / (chances[-1] + 1.0)
        return stops

    def _look_up(self, grades: Floats) -> Floats:
        table = dict(self.table)
        distinct, inverse = np.unique(grades, return_inverse=True)
        has_gain = np.array([grade in table for grade in distinct.tolist()], dtype=bool)
        missing = np.flatnonzero(~has_gain[inverse])
        if len(missing):
            raise InputError(MISSING_GAIN, 0, int(missing[0]), repr(float(grades[missing[0]])))
        return np.array([table[grade] for grade in distinct.tolist()], dtype=np.float64)[inverse]

    def called(self, grades: Floats) -> Floats:
        """Call the user's gain function with valid grades, without checking the values that it returns."""
        if not len(grades):
            return grades
        assert self.function is not None
        name = "gain: the result of the callable"
        result = self.function(grades.copy())
        check_unmasked(result, name)
        gains = array_of(result, name)
        if gains is None or gains.shape != grades.shape or gains.dtype.kind not in "biuf":
            kind = "lists of unequal length" if gains is None else f"{gains.dtype} {gains.shape}"
            raise TypeError(
                f"gain: the callable must return one number per grade: for shape {grades.shape} it returned {kind}"
            )
        return to_float64(gains)

    def __str__(self) -> str:
        if self.kind == "table":
            return "{" + ", ".join(f"{short(grade)}: {short(gain)}" for grade, gain in self.table) + "}"
        if self.kind == "callable":
            return getattr(self.function, "__name__", "callable")
        return "binary" if self == BINARY else self.kind


_CODES = {
    "linear": _codes.LINEAR,
    "exponential": _codes.EXPONENTIAL,
    "relevant": _codes.RELEVANT,
    "stop": _codes.STOP,
    "irrelevant": _codes.IRRELEVANT,
    "table": _codes.TABLE,
    "callable": _codes.CALLABLE,
}
LINEAR = Gain("linear")
EXPONENTIAL = Gain("exponential")
BINARY = Gain.relevant(0.0)
_NAMED = {"linear": LINEAR, "exponential": EXPONENTIAL, "binary": BINARY}


def _table(pairs: Any) -> tuple[tuple[float, float], ...]:
    table = {0.0: 0.0}
    for key, value in pairs:
        grade, gain = real(key, np.inf), real(value, np.inf)
        if grade is None or gain is None:
            raise TypeError(f"gain: grades and gains must be numbers, not {key!r}: {value!r}")
        table[grade] = gain
    for grade, gain in table.items():
        if not (0.0 <= gain < float("inf")) or not (0.0 <= grade < float("inf")):
            raise ValueError(f"gain: {gain!r} for the grade {grade!r}: both must be finite and not negative")
    return tuple(sorted(table.items()))
