"""Pure decisions: no input or output, no clock, no environment, no randomness."""
