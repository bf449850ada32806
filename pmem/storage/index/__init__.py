"""The disposable indexes beside the files."""
