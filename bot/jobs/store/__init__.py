"""The tables of jobs, and their rows."""
