"""One reference finds a request in the log: its prompt, its deliveries, the service's job, Slack's answer."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import structlog
from structlog.testing import LogCapture

from bot.logs import about_request, reference
from tests.work.office import Office


@pytest.fixture
def logged() -> Iterator[LogCapture]:
    capture = LogCapture()
    before = structlog.get_config()["processors"]
    structlog.configure(processors=[structlog.contextvars.merge_contextvars, capture])
    yield capture
    structlog.configure(processors=before)


async def test_a_reference_goes_from_the_request_to_slacks_answer(office: Office, logged: LogCapture) -> None:
    with about_request("command:7"):
        await office.ask("Add a page", key="command:7")
    office.restart()  # what a process knows is gone; the reference comes from the rows
    await office.settle()
    lines = [line for line in logged.entries if line.get("request") == reference("command:7")]
    assert next(line["event"] for line in lines) == "prompt_stored"
    [sent] = [line for line in lines if line["event"] == "prompt_sent"]
    assert sent["service_job"]
    face = next(line for line in lines if line["event"] == "delivery_sent" and line["kind"] == "root")
    assert (face["job"], bool(face["ts"])) == (sent["job"], True)
    assert "Add a page" not in repr(logged.entries)
