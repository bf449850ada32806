"""Asking git: the records and the files that it keeps."""
