"""Comparisons of several runs on the same queries."""
