"""The forms in which people hold rankings: one file a constructor, each ending in a Rankings."""
