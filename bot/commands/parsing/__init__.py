"""Parse what people type after a command."""
