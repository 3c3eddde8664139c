"""Tools on top of the public functions: trec_eval's command, scorers, metrics for trainers, reports."""
