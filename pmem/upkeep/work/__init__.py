"""Work for a model: found in the records, handed out, applied while its source stands still."""
