"""Every word and block the bot can say, as pure functions: our nouns in, a message out."""
