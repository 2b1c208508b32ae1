"""Counts as text."""

from __future__ import annotations


def number(count: int) -> str:
    """Return a count with thousands separators: 1,234."""
    return f"{count:,}"


def counted(count: int, one: str, many: str) -> str:
    """Return a count with its noun: 1 page, 2 pages."""
    return f"{number(count)} {one if count == 1 else many}"
