"""Results: records with their numbers, text, frames and plots."""
