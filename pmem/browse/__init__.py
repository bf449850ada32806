"""The memory in a terminal: a list, what stands behind each entry, and what waits for somebody."""
