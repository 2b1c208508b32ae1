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
    arguments = argparse.ArgumentParser(prog="python -m tests.torture", description=__doc__)
    arguments.add_argument("--runs", type=int, default=200, help="how many")
    arguments.add_argument("--seed", type=int, default=1, help="of the first run; counts up")
    arguments.add_argument("--at-once", type=int, default=8, help="how many at the same time")
    arguments.add_argument("--only", type=int, help="one run, of this seed, with its plan")
    arguments.add_argument(
        "--rolling", type=float, help="seconds to restart processes in turn instead"
    )
    return arguments


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code: 1 if a run failed."""
    options = parser().parse_args(arguments)
    seeds = (
        [options.only]
        if options.only is not None
        else range(options.seed, options.seed + options.runs)
    )
    folder = Path(tempfile.mkdtemp(prefix="docs-bot-torture-"))
    if options.rolling:
        report = asyncio.run(roll(options.seed, folder, seconds=options.rolling))
    else:
        report = asyncio.run(
            torture(seeds, options.at_once, folder, show_plans=options.only is not None)
        )
    print("\n".join(report.lines()))
    if not report.failures:
        shutil.rmtree(folder, ignore_errors=True)
    return 1 if report.failures else 0


async def torture(
    seeds: Sequence[int],
    at_once: int,
    folder: Path,
    *,
    show_plans: bool = False,
    prints: bool = True,
) -> Report:
    """Run the plans of these seeds and return the report. ``folder`` keeps the logs of runs that failed."""
    report, turn = (
        Report(len(seeds), show_plans=show_plans, prints=prints),
        asyncio.Semaphore(at_once),
    )
    plans = [make_plan(seed) for seed in seeds]
    needs_postgres = any(plan.database == "postgres" for plan in plans)
    async with postgres(folder, is_needed=needs_postgres) as address, zygote() as mother:

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
