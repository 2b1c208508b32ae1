"""Medians, percentiles, and the processor time and memory of a process."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median


@dataclass(frozen=True, slots=True)
class Spread:
    """The median and the 99th percentile of samples, in their unit."""

    median: float
    p99: float
    count: int


def spread(samples: Sequence[float]) -> Spread:
    """Return median and 99th percentile (nearest rank). Raises ValueError when there are no samples."""
    return Spread(median(samples), percentile(samples, 0.99), len(samples))


def percentile(samples: Sequence[float], share: float) -> float:
    """Return the smallest sample that is at least as large as this share of all samples (nearest rank)."""
    ranked = sorted(samples)
    return ranked[max(math.ceil(share * len(ranked)) - 1, 0)]


def cpu_seconds(pid: int) -> float:
    """Return the user and system time of a process with all its threads.

    https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html
    """
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def memory_mb(pid: int) -> float:
    """Return the current resident memory of a process, in MB (10^6 bytes)."""
    return _status(pid, "VmRSS:")


def most_memory_mb(pid: int) -> float:
    """Return the peak resident memory of a process, in MB (10^6 bytes)."""
    return _status(pid, "VmHWM:")


def _status(pid: int, key: str) -> float:
    for line in Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines():
        if line.startswith(key):
            return int(line.split()[1]) * 1024 / 1e6
    raise LookupError(f"{key} is not in the status of process {pid}")
