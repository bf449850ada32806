"""Whether the tests notice a change of logic: mutants of a module, and which tests kill them."""
