"""Results of evaluations, and their conversion to text, data frames and plots."""
