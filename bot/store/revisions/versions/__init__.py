"""One file for each revision, named after its number."""
