"""The examples of the page on clusters, without those that want Spark or another engine."""

import doctest

import pytest
from support import ROOT

pytestmark = pytest.mark.checkout
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


def test_the_page_of_clusters(backend):
    text = (ROOT / "docs/how-to/clusters.md").read_text(encoding="utf-8").replace("```", "")
    held = doctest.DocTestParser().get_doctest(text, {}, "clusters.md", None, 0)
    assert len(held.examples) > 10
    assert doctest.DocTestRunner(optionflags=FLAGS).run(held).failed == 0
