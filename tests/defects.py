"""Defects that are known and not yet mended: their tests say the right thing, and fail."""

from __future__ import annotations

import pytest


def known_defect(reason: str) -> pytest.MarkDecorator:
    """Expect a test to fail at an assertion; it fails the run once it passes, so that the mark goes.

    Args:
        reason: The defect, in one sentence.
    """
    return pytest.mark.xfail(strict=True, raises=AssertionError, reason=reason)
