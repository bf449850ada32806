"""What serves other programs over a protocol: translators over the table of operations."""
