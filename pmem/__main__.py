"""`python -m pmem` is the command `pmem`."""

from pmem.cli import main

main()
