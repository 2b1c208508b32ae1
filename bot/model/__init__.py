"""Values and pure rules of the bot: no input or output, and the current time is always an argument."""
