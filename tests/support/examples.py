"""Run the examples in docstrings and on pages."""

import doctest
import importlib.util

EXTRAS = {
    "plot(": "matplotlib",
    "to_pandas(": "pandas",
    "to_polars(": "polars",
    "to_arrow(": "pyarrow",
    "csr_array": "scipy",
    "exclude=train": "scipy",
    "to_parquet(": "pyarrow",
    "from_table(": "pyarrow",
    "pyarrow.parquet": "pyarrow",
}  # calls and the libraries that they need
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


class Parser(doctest.DocTestParser):
    """A doctest parser that skips examples whose library is not installed."""

    def get_examples(self, string, name="<string>"):
        absent = [call for call, library in EXTRAS.items() if importlib.util.find_spec(library) is None]
        examples = super().get_examples(string, name)
        return [example for example in examples if not any(call in example.source for call in absent)]
