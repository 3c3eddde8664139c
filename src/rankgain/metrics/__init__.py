"""Metrics: gains, discounts, the table of metrics, the parser for metric names, and the program that computes them."""
