"""Several runs over the same queries."""
