"""Regular calls that bring no news wake no worker."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.fakes import LINK, FakeGithub
from tests.work.office import Office


@pytest.mark.parametrize("call", ["poll", "pull request", "build"])
async def test_call_without_news_wakes_no_worker(office: Office, call: str) -> None:
    office.docs.branch, github = "agent/quickstart", FakeGithub()
    office.context = replace(office.context, github=github.client(office.clock))
    await office.started()
    if call != "poll":
        await office.ends(pr_link=LINK)
    if call == "build":
        await office.press("preview", "1")
    await office.settle(30)
    wakes, calls = office.wakes, len(office.docs.calls) + len(github.calls)
    await office.settle(1_300 if call == "pull request" else 30)
    assert len(office.docs.calls) + len(github.calls) > calls
    assert office.wakes == wakes
