"""The examples in docstrings that need a Spark session."""

import doctest

import pytest

pytestmark = [pytest.mark.spark, pytest.mark.filterwarnings("ignore")]
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


@pytest.mark.parametrize("name", ["jobs", "evaluator"])
def test_docstring_examples_of_spark_run(spark, name):
    from importlib import import_module

    module = import_module(f"rankgain.spark.{name}")
    result = doctest.testmod(module, extraglobs={"spark": spark}, optionflags=FLAGS)
    assert result.attempted > 5
    assert result.failed == 0
