"""The terminal browser, driven key by key."""
