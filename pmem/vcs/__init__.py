"""The memory in git: merges, hooks, changelogs and where records come from."""
