"""A docs service and a Slack workspace for a machine that has neither; production code never imports it."""
