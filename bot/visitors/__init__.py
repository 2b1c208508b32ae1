"""Visitors: who reads the docs, content gaps, and the weekly digest."""
