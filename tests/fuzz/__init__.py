"""Fuzzing: everything that reads what somebody else wrote, and what must hold whatever it reads."""
