"""Reading messages by rules: the facts that they state, the key moments that they make."""
