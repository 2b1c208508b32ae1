"""Many runs from seeds, some at once: ``python -m tests.torture --runs 200 --seed 1 --at-once 8``."""

from __future__ import annotations

import argparse
import asyncio
import shutil
import sys
import tempfile
import traceback
from collections.abc import Sequence
from pathlib import Path

from tests.bots import zygote
from tests.torture.checker import check
from tests.torture.plan import Plan
from tests.torture.planning import make_plan
from tests.torture.report import Report
from tests.torture.rolling import roll
from tests.torture.run import carry_out
from tests.torture.servers import postgres


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    made = argparse.ArgumentParser(prog="python -m tests.torture", description=__doc__)
    made.add_argument("--runs", type=int, default=200, help="how many")
    made.add_argument("--seed", type=int, default=1, help="of the first; each further run takes the next")
    made.add_argument("--at-once", type=int, default=8, help="how many at the same time")
    made.add_argument("--only", type=int, help="one run, of this seed, with its plan")
    made.add_argument("--rolling", type=float, help="restart processes in turn for so many seconds instead")
    return made


def main(words: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code: 1 if a run failed."""
    asked = parser().parse_args(words)
    seeds = [asked.only] if asked.only is not None else range(asked.seed, asked.seed + asked.runs)
    folder = Path(tempfile.mkdtemp(prefix="docs-bot-torture-"))
    if asked.rolling:
        report = asyncio.run(roll(asked.seed, folder, seconds=asked.rolling))
    else:
        report = asyncio.run(torture(seeds, asked.at_once, folder, show_plans=asked.only is not None))
    print("\n".join(report.lines()))
    if not report.failures:
        shutil.rmtree(folder, ignore_errors=True)
    return 1 if report.failures else 0


async def torture(
    seeds: Sequence[int], at_once: int, folder: Path, *, show_plans: bool = False, tell: bool = True
) -> Report:
    """Run the plans of these seeds and return the report. ``folder`` keeps the logs of runs that failed."""
    report, turn = Report(len(seeds), show_plans=show_plans, tell=tell), asyncio.Semaphore(at_once)
    plans = [make_plan(seed) for seed in seeds]
    wanted = any(plan.database == "postgres" for plan in plans)
    async with postgres(folder, wanted=wanted) as address, zygote() as mother:

        async def one(plan: Plan) -> None:
            async with turn:
                try:
                    record = await carry_out(plan, mother, folder / str(plan.seed), address)
                    report.add(record, check(record), folder / str(plan.seed))
                except Exception:
                    # A run that raises is reported as a failure and does not stop the others.
                    report.broke(plan, traceback.format_exc(), folder / str(plan.seed))

        async with asyncio.TaskGroup() as group:
            for plan in plans:
                group.create_task(one(plan))
    return report


if __name__ == "__main__":
    sys.exit(main())
