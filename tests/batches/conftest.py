"""Without pyarrow there are no record batches, and nothing here is collected."""

from importlib.util import find_spec

collect_ignore_glob = [] if find_spec("pyarrow") else ["test_*.py"]
