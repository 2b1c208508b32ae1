"""What every test starts from: a clean environment, and no skips where everything must run."""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import random
import signal
from collections.abc import AsyncIterator, Generator, Iterator
from itertools import islice
from typing import TYPE_CHECKING

import hypothesis
import pytest
import structlog

import tests.properties
import tests.schema  # noqa: F401 - declares the tables of all features
from bot.settings import Settings

if TYPE_CHECKING:
    from playwright.async_api import Browser

    from tests.talk import Talk

_STAND_INS = "tests/sandbox/"
"""Where the tests are of the sandbox and not of the bot; all of them are marked ``slow``."""
_LONG = (
    "tests/torture/",
    "tests/scenarios/test_kill",
    "tests/scenarios/test_operating.py",
    "tests/scenarios/test_accessibility.py",
    "tests/scenarios/test_processes.py",
    "tests/scenarios/test_stopping.py",
    "tests/test_bench.py",
    "tests/test_recipes.py",
)
"""Where tests take from several seconds to a minute, most of which they wait."""

_SECONDS_TO_END = 10.0
"""For how long a task that was cancelled, or whose connection was closed, may take to end after its test."""

# Another one of `tests.properties` is chosen with `pytest --hypothesis-profile`.
hypothesis.settings.load_profile("test")

# A traceback that rich draws takes a quarter of a second, and tests let much go wrong.
structlog.configure(
    processors=[structlog.dev.ConsoleRenderer(exception_formatter=structlog.dev.plain_traceback)]
)
_LOGS = structlog.get_config()

for name in [*Settings.variables(), "SLACK_CLIENT_ID", "SLACK_CLIENT_SECRET"]:
    os.environ.pop(name, None)
for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
    # Slack's library uses a proxy from the environment even for this machine.
    os.environ.pop(name, None)
    os.environ.pop(name.upper(), None)
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # A script's shell has what it runs in the background ignore Ctrl-C, and so would the bots of the tests.
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True)
def logs_restored() -> Iterator[None]:
    """Undoes what a test, or a bot that several tests share, changes in the configuration of the logs."""
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    structlog.configure(**_LOGS)
    yield
    root.handlers, root.level = handlers, level


@pytest.fixture(autouse=True)
async def no_task_left() -> AsyncIterator[None]:
    """Fail a test whose fakes leave a task running: the next test would see its errors and its calls."""
    before = asyncio.all_tasks()
    yield
    left = asyncio.all_tasks() - before - {asyncio.current_task()}
    if left:
        _, left = await asyncio.wait(left, timeout=_SECONDS_TO_END)
    if left:
        pytest.fail("\n".join(["left running:", *map(repr, left)]), pytrace=False)


def pytest_addoption(parser: pytest.Parser) -> None:
    """``make torture`` kills the bot at every place, ``make test`` only at some of each kind."""
    parser.addoption(
        "--every-place", action="store_true", help="kill the bot at every place, not only at some"
    )
    parser.addoption(
        "--shuffle",
        type=int,
        metavar="SEED",
        help="run the tests in the order of this seed: none may depend on those before it",
    )


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Load the tests without garbage collections, and keep what they load out of later ones.

    It stays for good, and each collection that looks at all of it takes 0.2 s.
    """
    gc.disable()
    collected = yield
    gc.freeze()
    # Tests make and drop whole bots; the default of 700 objects takes a tenth of their time.
    gc.set_threshold(20_000, 20, 20)
    gc.enable()
    return collected


@pytest.hookimpl(tryfirst=True)
def pytest_itemcollected(item: pytest.Item) -> None:
    """Mark the tests of the sandbox."""
    if item.nodeid.startswith(_STAND_INS):
        item.add_marker("slow")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Let each worker begin with its share of the tests that take longest, so that none ends alone with them.

    Each worker of pytest-xdist gets an equal part of the list, in its order.
    """
    if (seed := config.getoption("--shuffle")) is not None:
        random.Random(seed).shuffle(items)
        return
    workers = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    long = [item for item in items if item.nodeid.startswith(_LONG)]
    others = iter([item for item in items if not item.nodeid.startswith(_LONG)])
    left = len(items)
    ordered: list[pytest.Item] = []
    for number in range(workers):
        share = long[number::workers]
        size = left // (workers - number)
        ordered += [*share, *islice(others, max(size - len(share), 0))]
        left -= size
    items[:] = [*ordered, *others]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """A skip where everything must run is a failure that says why. A failed conversation is printed."""
    report = yield
    talk = getattr(item, "funcargs", {}).get("talk")
    if talk is not None and report.failed:
        report.sections.insert(0, ("The conversation", talk.transcript()))
    if report.skipped and os.environ.get("CI") and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = f"skipped, and nothing may be: {report.longrepr}"
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """So is a whole module that is skipped."""
    report = yield
    if report.skipped and os.environ.get("CI"):
        report.outcome = "failed"
        report.longrepr = f"skipped, and nothing may be: {report.longrepr}"
    return report


@pytest.fixture
async def talk() -> AsyncIterator[Talk]:
    """A conversation; see ``tests/talk.py``."""
    from tests.talk import Talk
    from tests.talk_database import columns_without_revision

    if missing := columns_without_revision():
        pytest.fail(
            f'No revision makes {", ".join(missing)}. Run: make revision NAME="add {missing[0]}"',
            pytrace=False,
        )
    talk = Talk()
    yield talk
    await talk.close()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None]:
    """Fail a conversation that leaves something unread."""
    yield
    talk = getattr(item, "funcargs", {}).get("talk")
    if talk is not None and (unread := talk.unread()):
        pytest.fail("\n".join(["nobody has read this:", *unread]), pytrace=False)


@pytest.fixture(scope="session")
async def browser() -> AsyncIterator[Browser]:
    """A browser for all tests of pages, since its start takes longer than most of them."""
    from tests.browser import launched

    async with launched() as browser:
        yield browser
