"""Key moments of conversations, and the dialogues that hold them to account."""
