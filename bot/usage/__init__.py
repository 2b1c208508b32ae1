"""The outcomes of a month's requests: ``/docs-agent usage``."""
