"""Jobs: from a request to the told end."""
