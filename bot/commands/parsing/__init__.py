"""Reading what people type after a command."""
