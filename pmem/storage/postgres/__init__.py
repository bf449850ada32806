"""Records, and what a clone keeps for itself, on a PostgreSQL server (the extra `postgres`)."""
