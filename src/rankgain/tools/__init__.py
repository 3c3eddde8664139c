"""What stands on the public functions: trec_eval's command, scorers, metrics for trainers, reports."""
