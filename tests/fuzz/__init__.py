"""Coverage-guided fuzzing: the compiled half against the pure-Python reference.

A target makes a call of bytes; `harness.check` runs it on each backend, and what it gives must be the same bits, or a
refusal of the same type and text. `python -m fuzz` says how to run them, and how to keep what was found;
`backends/test_fuzz.py` replays what is kept.
"""

TARGETS = {  # and the most bytes that one makes a call of
    "lines": 400,
    "trec": 400,
    "arrays": 200,
    "dicts": 200,
}
