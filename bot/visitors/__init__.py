"""Visitors: readers of the docs, content gaps, and the weekly digest."""
