"""Measurements of the bot beside what a person would use instead. `python -m bench --help` says how."""
