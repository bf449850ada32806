"""The memory as a page that people look at: what it says as one document, and how that is drawn."""
