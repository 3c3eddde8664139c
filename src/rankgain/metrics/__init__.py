"""Metrics: gains, discounts, the table, the parser of names, and the program that computes them."""
