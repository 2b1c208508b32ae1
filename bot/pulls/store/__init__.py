"""The tables of pull requests and previews, each with its statements."""
