"""What one clone keeps for itself: never tracked, not to be made again."""
