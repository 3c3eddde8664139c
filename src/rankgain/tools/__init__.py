"""Tools built on the public functions: the trec_eval command, scorers, metrics for training libraries, and reports."""
