"""Questions about the docs: their answers, and the content gaps that they show."""
