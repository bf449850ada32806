"""The pure parts of a record's life, by hand and out of thin air."""
