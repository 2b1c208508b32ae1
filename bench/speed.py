"""Measures the current speed of this machine: a fixed loop is timed and compared with a reference.

The speed of rented machines changes within an hour. Absolute times are comparable only together with this
number; ratios of sides that were measured in turns need no correction.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from statistics import median
from time import perf_counter, process_time

_REFERENCE_SECONDS = 0.050
"""Time of one loop on an otherwise idle core of an Intel Xeon (Python 3.11.7); this is speed 1.00."""
_LOOPS = 15
_STEPS = 600_000


@dataclass(frozen=True, slots=True)
class MachineSpeed:
    """Speed by wall clock and by processor time (1 = reference); they differ if other processes run."""

    clock: float
    processor: float

    def __str__(self) -> str:
        return f"{self.clock:.2f} by the clock, {self.processor:.2f} by processor time (1.00 = reference)"


def machine_speed() -> MachineSpeed:
    """Run the loop for about a second in all, and compare its median time with the reference."""
    clock, processor = [], []
    for _ in range(_LOOPS):
        began, used = perf_counter(), process_time()
        work(_STEPS)
        clock.append(perf_counter() - began)
        processor.append(process_time() - used)
    return MachineSpeed(_REFERENCE_SECONDS / median(clock), _REFERENCE_SECONDS / median(processor))


def work(steps: int) -> str:
    """Do a fixed amount of work with dictionaries, numbers, strings and hashes; return its digest."""
    digest, seen = hashlib.sha256(), dict.fromkeys(range(64), 0)
    for step in range(steps):
        seen[step % 64] += step
        if step % 8 == 0:
            digest.update(str(seen[step % 64]).encode())
    return digest.hexdigest()
