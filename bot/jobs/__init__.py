"""Jobs: people's requests to the agent, up to the pull request."""
