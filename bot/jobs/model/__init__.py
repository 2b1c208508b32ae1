"""The records of jobs and their legal changes."""
