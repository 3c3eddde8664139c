"""Coverage-guided fuzzing of the compiled code against the pure-Python reference.

A target turns bytes into a call; `harness.check` runs the call on each backend. Both backends must return the same
bits, or raise an error of the same type and text. `python -m fuzz` shows how to run a target and how to save its
findings; `backends/test_fuzz.py` replays saved inputs.
"""

TARGETS = {  # the maximum input length in bytes, by target
    "lines": 400,
    "trec": 400,
    "arrays": 200,
    "dicts": 200,
}
