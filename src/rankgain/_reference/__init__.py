"""The specification: every kernel in plain Python, and the fallback where nothing is compiled."""
