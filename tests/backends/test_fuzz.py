"""Inputs saved by fuzzing give the same result, or the same error, on both backends."""

from importlib import import_module

import pytest
from fuzz import TARGETS, harness

pytestmark = [pytest.mark.both, pytest.mark.usefixtures("on_both")]  # restores the backend afterwards


@pytest.mark.parametrize("name", TARGETS)
def test_inputs_of_the_corpus_give_equal_results_on_both_backends(name):
    target = import_module(f"fuzz.{name}")
    inputs = harness.saved(name)
    assert inputs
    for data in inputs:
        harness.check(target, data)
