"""The samples of each family of messages."""
