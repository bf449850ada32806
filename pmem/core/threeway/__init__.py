"""Three-way merging of one record, as git asks for it: a base and what became of it on two sides.

Everything here works on JSON as it stands in the files, so keys that this version does not know
are merged like all others. It needs the standard library alone: git starts a process for every
file that it merges.
"""
