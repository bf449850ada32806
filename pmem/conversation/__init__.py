"""Conversations: messages, their chunks, and what they make memories of."""
