"""Warnings about data that are probably not what the caller meant, and what errors advise to write instead."""
