"""Tries a sample of mutants of the code that keeps promises, and says which ones no test catches.

``make mutants`` runs it. Each mutant is one small change, such as ``<`` for ``<=``; the tests that pass
through its function are run against it. https://mutmut.readthedocs.io/
"""

from __future__ import annotations

import argparse
import random
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

_MUTMUT = Path(sys.executable).with_name("mutmut")
_RESULT = re.compile(r"^ +([\w.ǁ]+__mutmut_\d+): (.+)$", re.MULTILINE)
_CAUGHT = ("killed", "timeout")


def _mutmut(*arguments: str, may_fail: bool = False) -> str:
    done = subprocess.run([_MUTMUT, *arguments], capture_output=True, text=True, check=False)
    if done.returncode and not may_fail:
        sys.exit(f"mutmut {arguments[0]} failed:\n{(done.stdout + done.stderr)[-4_000:]}")
    return done.stdout


def _results() -> dict[str, str]:
    """Return each mutant's name and what became of it."""
    return dict(_RESULT.findall(_mutmut("results", "--all", "true")))


def main() -> None:
    """Try the mutants, and print the score and those that survived."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sample", type=int, default=600, help="how many mutants are tried")
    parser.add_argument("--seed", type=int, default=1, help="chooses which")
    parser.add_argument(
        "--at-once", type=int, default=2, help="how many are tried at the same time"
    )
    options = parser.parse_args()
    # No mutant has this name, so this only makes them and finds out which tests pass through which function.
    _mutmut("run", "none", may_fail=True)
    every = sorted(_results())
    chosen = random.Random(options.seed).sample(every, min(options.sample, len(every)))
    print(f"{len(chosen)} of {len(every)} mutants", flush=True)
    _mutmut("run", "--max-children", str(options.at_once), *chosen)
    found = {name: status for name, status in _results().items() if name in set(chosen)}
    survived = sorted(name for name, status in found.items() if status not in _CAUGHT)
    print(*(f"{found[name]}: {name}" for name in survived), sep="\n")
    print(", ".join(f"{count} {status}" for status, count in Counter(found.values()).most_common()))
    print(
        f"{1 - len(survived) / len(found):.0%} caught. `mutmut show NAME` shows one that was not."
    )


if __name__ == "__main__":
    main()
