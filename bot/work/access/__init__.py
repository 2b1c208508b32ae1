"""Access to the bot and to jobs: the decision, its cache, and the refusal."""
