"""How fast this machine is right now: a fixed loop, timed, as a share of a reference.

Rented machines change their speed within an hour. Absolute times are only comparable beside this number;
ratios of sides that were measured in turns need no correction.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from statistics import median
from time import perf_counter, process_time

_REFERENCE_SECONDS = 0.050
"""One loop on an undisturbed core of an Intel Xeon (Python 3.11.7), which is 1.00."""
_LOOPS = 15
_STEPS = 600_000


@dataclass(frozen=True, slots=True)
class MachineSpeed:
    """Shares of the reference; more is faster. They differ when other processes use the machine."""

    clock: float
    processor: float

    def __str__(self) -> str:
        return f"{self.clock:.2f} by the clock, {self.processor:.2f} by processor time (1.00 = reference)"


def machine_speed() -> MachineSpeed:
    """Run the loop some times, about a second in all, and compare its median with the reference."""
    clock, processor = [], []
    for _ in range(_LOOPS):
        began, used = perf_counter(), process_time()
        work(_STEPS)
        clock.append(perf_counter() - began)
        processor.append(process_time() - used)
    return MachineSpeed(_REFERENCE_SECONDS / median(clock), _REFERENCE_SECONDS / median(processor))


def work(steps: int) -> str:
    """Do the same work at each call: dictionaries, numbers, strings and hashes. Return its digest."""
    digest, seen = hashlib.sha256(), dict.fromkeys(range(64), 0)
    for step in range(steps):
        seen[step % 64] += step
        if step % 8 == 0:
            digest.update(str(seen[step % 64]).encode())
    return digest.hexdigest()
