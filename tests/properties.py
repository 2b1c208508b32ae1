"""How property tests search: the same few examples in every `make test`, many new ones in `make torture`."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

SLOW_MACHINE = (HealthCheck.too_slow, HealthCheck.data_too_large)
"""Checks that fail because a machine is slow or an example is long, which is no fault of ours."""

settings.register_profile(
    "test",
    max_examples=30,
    derandomize=True,
    database=None,
    deadline=None,
    suppress_health_check=SLOW_MACHINE,
    print_blob=True,
)
settings.register_profile(
    "search", max_examples=500, deadline=None, suppress_health_check=SLOW_MACHINE, print_blob=True
)


def share(of: int) -> int:
    """Return how many examples a property gets that is ``of`` times as slow as others."""
    return max(settings().max_examples // of, 5)
