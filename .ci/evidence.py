"""Run what shows the bot's promises, and write the results to ``var/evidence.json``: ``make evidence``.

The words that people say, runs under faults, kills at every place, and the bench: about two hours.
A missed goal and a failed run are written like any other result.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from datetime import UTC, datetime
from time import monotonic

from release import EVIDENCE, ROOT, git

FILE = ROOT / EVIDENCE
BENCH = "var/bench.json"
_MAX_LINES = 200
"""Of a command's output, from its end."""
_COLOURS = re.compile(r"\x1b\[[0-9;]*m")


def commands(runs: int, *, is_quick: bool) -> dict[str, list[str]]:
    """Return the command of each part of the evidence."""
    kills = ["pytest", "-q", "-n", "2", "tests/scenarios/test_kill.py"]
    return {
        "words": ["tests.intent.words"],
        "torture": ["tests.torture", "--runs", str(runs), "--at-once", "4"],
        "kills": kills if is_quick else [*kills, "--every-place"],
        "bench": ["bench", "--json", BENCH, *(["--quick"] if is_quick else [])],
    }


def main() -> int:
    """Gather the evidence of the commit; return 1 if a part failed."""
    if git(ROOT, "status", "--porcelain"):
        print("Commit first: evidence is about a commit.", file=sys.stderr)
        return 1
    sys.path.insert(0, str(ROOT))
    from bench.report import machine

    is_quick = "--quick" in sys.argv
    only = [argument for argument in sys.argv[1:] if not argument.startswith("-")]
    evidence: dict[str, object] = {
        "commit": git(ROOT, "rev-parse", "HEAD").strip(),
        "made_at": datetime.now(UTC).isoformat(timespec="seconds"),
        "machine": machine(),
    }
    runs = int(os.environ.get("RUNS", "200"))
    parts = commands(runs, is_quick=is_quick)
    results = {name: carry_out(parts[name]) for name in parts if not only or name in only}
    if (ROOT / BENCH).exists() and "bench" in results:
        results["bench"]["figures"] = json.loads((ROOT / BENCH).read_text())
    FILE.parent.mkdir(exist_ok=True)
    FILE.write_text(json.dumps({**evidence, "parts": results}, indent=2) + "\n")
    for name, result in results.items():
        print(f"{name}: {'passed' if result['exit_code'] == 0 else 'failed'}")
    print(f"Written to {FILE.relative_to(ROOT)}.")
    return 0 if all(result["exit_code"] == 0 for result in results.values()) else 1


def carry_out(command: list[str]) -> dict[str, object]:
    """Return the outcome of a Python module: its exit code, seconds, and the end of its output."""
    print("…", *command, flush=True)
    began = monotonic()
    done = subprocess.run(
        [sys.executable, "-m", *command],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    lines = _COLOURS.sub("", done.stdout).splitlines()
    return {
        "command": " ".join(["python", "-m", *command]),
        "exit_code": done.returncode,
        "seconds": round(monotonic() - began),
        "output": lines[-_MAX_LINES:],
    }


if __name__ == "__main__":
    sys.exit(main())
