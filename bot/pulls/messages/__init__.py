"""The messages about pull requests, changes and previews, as pure functions."""
