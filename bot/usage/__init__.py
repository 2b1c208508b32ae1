"""What a month's requests have brought: ``/docs-agent usage``."""
