"""Pull requests: the state of each, its changes, its preview, and its reminder."""
