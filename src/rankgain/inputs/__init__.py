"""Constructors of `Rankings`, with one module for each form of input."""
