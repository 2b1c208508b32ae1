"""Jobs: what people ask the agent for, from the request to the pull request."""
