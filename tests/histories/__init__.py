"""Made-up histories of projects, step by step, with what a reader of each step says."""
