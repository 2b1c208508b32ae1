"""The values of pull requests, changes and previews, and their rules."""
