"""What readers miss on the command line: as text, as JSON and as CSV, from one call of each kind."""

from __future__ import annotations

import asyncio
import csv
import io
import json
from collections.abc import AsyncIterator
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from bot.model.misses import Topic
from bot.operator.misses import export_misses
from bot.operator.visitors import STDOUT, ExitCode, ExportError, Wanted
from bot.settings import DocsSettings

NOW = datetime(2026, 10, 14, 9, 30, tzinfo=UTC)
WANTED = Wanted(date(2026, 10, 5), date(2026, 10, 11))
SECRET = "ana@example.com"
ANSWERS: dict[str, dict[str, Any]] = {
    "searches": {
        "searches": [{"searchQuery": f"=limits\x1b {SECRET}", "hits": 4, "ctr": 0, "topClickedPage": None}],
        "totalSearches": 4,
        "nextCursor": None,
    },
    "feedback/by-page": {
        "feedback": [{"path": "/a", "thumbsUp": 1, "thumbsDown": 2, "code": 0, "total": 3}],
        "hasMore": False,
    },
    "feedback": {
        "feedback": [{"id": "1", "path": "/a", "comment": "No", "source": "contextual", "contact": SECRET}],
        "hasMore": False,
    },
    "assistant": {
        "conversations": [{"id": "1", "query": "Why?", "resolutionStatus": "unanswered"}],
        "hasMore": False,
    },
}


class Service:
    """A docs service that answers as ``ANSWERS``; ``refused``: the status of some calls instead."""

    def __init__(self) -> None:
        self.refused: dict[str, int] = {}
        self.calls: list[str] = []
        self.url = ""

    async def answer(self, request: web.Request) -> web.Response:
        what = request.path.partition("/acme/")[2]
        self.calls.append(what)
        if status := self.refused.get(what):
            return web.json_response({"error": "no"}, status=status)
        assert request.query["dateTo"] == "2026-10-12"
        return web.json_response(ANSWERS[what])

    async def export(self, topic: Topic, *, to: Path | None = None, as_json: bool = False) -> str:
        env = {"DOCS_API_URL": self.url, "DOCS_API_KEY": "k", "DOCS_PROJECT_ID": "acme"}
        out, settings = io.BytesIO(), DocsSettings.load(env, env_file=None)
        await export_misses(settings, WANTED, topic, csv=to, as_json=as_json, stdout=out, now=lambda: NOW)
        return out.getvalue().decode()


@pytest.fixture
async def service() -> AsyncIterator[Service]:
    made, app = Service(), web.Application()
    app.router.add_get("/{rest:.*}", made.answer)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    made.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    yield made
    await runner.cleanup()


TOPICS = (Topic.SEARCHES, Topic.FEEDBACK, Topic.QUESTIONS)
FIRST_ROWS = {
    Topic.SEARCHES: {"words": "=limits\ufffd [email]", "searches": 4, "with_click": 0, "page": ""},
    Topic.FEEDBACK: {"page": "/a", "not_helpful": 2, "helpful": 1, "on_code": 0}
    | {"who": "people", "comments": 1, "newest": "No"},
    Topic.QUESTIONS: {"category": "", "questions": 1, "question": "Why?", "page": ""},
}


@pytest.mark.parametrize("topic", TOPICS)
async def test_text_json_and_csv_say_the_same(service: Service, topic: Topic, tmp_path: Path) -> None:
    row = FIRST_ROWS[topic]
    document = json.loads(await service.export(topic, as_json=True))
    assert (document[topic], document["complete"]) == ([row], True)
    said = await service.export(topic, to=tmp_path / "out.csv")
    assert " | ".join(str(cell) for cell in row.values()) in said
    content = await asyncio.to_thread((tmp_path / "out.csv").read_text, "utf-8-sig")
    assert content.splitlines() == (await service.export(topic, to=STDOUT)).splitlines()
    [cells] = csv.DictReader(io.StringIO(content))
    assert [each.lstrip("'") for each in cells.values()] == [str(each) for each in row.values()]
    assert SECRET not in said + content + str(document)


async def test_comments_that_the_service_does_not_give_are_left_out(service: Service) -> None:
    service.refused["feedback"] = 403
    document = json.loads(await service.export(Topic.FEEDBACK, as_json=True))
    assert document["feedback"][0]["not_helpful"] == 2
    assert document["complete"] is False


@pytest.mark.parametrize(
    ("status", "code"), [(401, ExitCode.REFUSED), (403, ExitCode.REFUSED), (429, ExitCode.LIMITED)]
)
async def test_each_trouble_has_its_exit_code(service: Service, status: int, code: ExitCode) -> None:
    service.refused["searches"] = status
    with pytest.raises(ExportError) as raised:
        await service.export(Topic.SEARCHES)
    assert raised.value.code == code
