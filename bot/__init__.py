"""The docs-agent Slack bot."""

__version__ = "0.1.0"
