"""Who may use the bot and see a job: the check, its cache, the refusal."""
