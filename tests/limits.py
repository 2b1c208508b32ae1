"""Time limits of tests that hang. No duration is measured against them.

Every wait returns as soon as its condition holds, so a generous limit costs nothing. On an idle machine the
longest of these waits takes a few seconds; a machine may be ten times slower and busy besides.
"""

from __future__ import annotations

HANG_SECONDS = 120.0
"""For one thing to come about: an answer, a start, an end."""
STOPPED = (0, 75)
"""Exit codes after SIGTERM; 75 (EX_TEMPFAIL) leaves work to the next start."""
