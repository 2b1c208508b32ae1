"""The messages about jobs, as pure functions."""
