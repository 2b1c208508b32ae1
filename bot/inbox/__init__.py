"""What people write to the bot: stored first, then heard once, and followed until nothing can come of it."""
