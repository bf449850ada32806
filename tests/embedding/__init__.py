"""What embeds texts, and what comes of it."""
