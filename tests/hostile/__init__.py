"""Projects made to do harm: what a cloned memory folder may hold, and that it does none."""
