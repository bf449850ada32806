"""How answers look on a terminal; what goes into a pipe imports none of it."""
