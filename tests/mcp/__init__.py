"""How assistants are served."""
