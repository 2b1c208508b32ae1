"""The use cases. They decide and write to the store; they never format text and never import Slack."""
