"""What the documents ask for, row by row: what decides it, and which tests hold it."""
