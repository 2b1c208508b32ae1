"""What people read about pull requests, changes and previews."""
