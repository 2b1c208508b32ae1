"""The use cases: they decide and write, never format, and never import Slack."""
