"""Records as JSON files: one each, made durable, one writer at a time."""
