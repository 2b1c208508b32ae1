"""Access: who may use the bot, and the proofs of it."""
