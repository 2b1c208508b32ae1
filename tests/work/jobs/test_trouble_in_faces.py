"""What the faces of open jobs say of a docs service that fails, or refuses the bot, for long."""

from __future__ import annotations

import httpx
import pytest

from bot.model.ids import UserId
from tests.work.office import Office

WARNING = ":warning:"


def failing(office: Office, answer: httpx.Response | Exception) -> None:
    office.docs.answer_instead("get", *[answer] * 500)


def warned(office: Office) -> list[str]:
    """The texts of the first job's face that speak of trouble, in order."""
    return [face.text for face in office.slack.edits[office.slack.root().ts] if WARNING in face.text]


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (httpx.ConnectError("down"), "The docs service hasn't given a usable answer since <!date^"),
        (httpx.Response(503), "The docs service hasn't given a usable answer since <!date^"),
        (httpx.Response(401, json={"error": "no"}), "The docs service has refused the bot since <!date^"),
        (httpx.Response(403, json={"error": "no"}), "The docs service has refused the bot since <!date^"),
    ],
)
async def test_after_ten_minutes_the_face_says_since_when_until_all_is_well(
    office: Office, answer: httpx.Response | Exception, words: str
) -> None:
    office.access_policy(admins=frozenset({UserId("U0ADA")}))
    await office.started()
    failing(office, answer)
    for _ in range(9):
        await office.pass_time(60)
    assert warned(office) == []
    for _ in range(4):
        await office.pass_time(60)
    assert words in office.root_text()
    assert len({text.splitlines()[-1] for text in warned(office)}) == 1
    office.docs.instead.clear()
    for _ in range(15):
        await office.pass_time(60)
    assert WARNING not in office.root_text()
    assert "key" not in "".join(office.said()).lower()


async def test_a_service_that_only_asks_to_wait_is_no_trouble(office: Office) -> None:
    await office.started()
    failing(office, httpx.Response(429, headers={"Retry-After": "30"}))
    for _ in range(20):
        await office.pass_time(60)
    assert warned(office) == []


async def test_a_job_that_begins_long_after_a_failure_says_nothing_of_it(office: Office) -> None:
    await office.started()
    failing(office, httpx.ConnectError("down"))
    await office.pass_time(60)
    office.docs.instead.clear()
    await office.ends()
    office.clock.pass_seconds(7_200)
    await office.started("Another page")
    assert WARNING not in "".join(face.text for faces in office.slack.edits.values() for face in faces)
