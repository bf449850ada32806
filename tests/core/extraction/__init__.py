"""Facts in messages, and the messages that hold them to account."""
