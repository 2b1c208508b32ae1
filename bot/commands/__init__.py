"""The commands of the bot, one file each."""
