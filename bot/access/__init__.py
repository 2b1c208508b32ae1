"""Access: the permission to use the bot, and its proofs."""
