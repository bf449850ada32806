"""The memory over HTTP: one table of endpoints, a guard before it, and threads that answer."""
