"""The forms in which people hold rankings: one file per constructor, each of which returns Rankings."""
