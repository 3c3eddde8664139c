"""What callers hold, as buffers, with its source, rules and judgments."""
