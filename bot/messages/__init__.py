"""All texts and blocks that the bot sends, as pure functions from model values to messages."""
