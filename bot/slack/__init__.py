"""Slack: listeners that translate and hand on, and the Messenger. The only importer of Slack's libraries."""
