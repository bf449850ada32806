"""Asking models, and the work that there is for them."""
