"""People's messages to the bot.

They are stored first, then heard once, and followed until nothing can come of them.
"""
