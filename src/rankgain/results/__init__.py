"""The records that a caller gets back, as numbers, text, frames and pictures."""
