"""Local stand-ins for the docs service and for Slack; production code never imports them."""
