"""The decision about a text: its meaning, and its part for the bot.

`decide` is pure, and the same for every door. It imports nothing else of the bot: the bot's own
words come as data (`Vocabulary`), and people's words stand in ``words/*.toml``, a file for each
language.
"""
