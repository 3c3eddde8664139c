"""The constructors of Rankings: one file per form of input."""
