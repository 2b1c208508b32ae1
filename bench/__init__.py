"""Benchmarks that compare the bot with simpler alternatives. See `python -m bench --help`."""
