"""Dead letters that an operator has tried again."""

from __future__ import annotations

from bot.outbox.store import Outbox
from bot.slack.client import refused
from tests.work.office import Office


async def retry(office: Office) -> None:
    """Try the only dead letter again."""
    [letter] = [
        each for each in await office.store.read(lambda tx: Outbox(tx).dead_letters(10)) if each.can_go
    ]
    assert await office.store.write(lambda tx: Outbox(tx).retry_dead_letter(letter.number, office.clock()))
    await office.settle()


async def test_an_end_that_slack_refused_is_said_when_it_is_tried_again(office: Office) -> None:
    await office.started()
    office.slack.trouble("post", refused("is_archived"))
    office.docs.finish()
    await office.settle()
    assert office.said() == []
    await retry(office)
    [said] = office.said()
    assert "is done" in said
    await office.settle()
    assert len(office.said()) == 1


async def test_an_end_that_was_said_after_all_is_found_and_not_said_twice(office: Office) -> None:
    await office.started()
    office.slack.lose_answer.append(refused("is_archived"))
    office.docs.finish()
    await office.settle()
    await retry(office)
    assert len(office.said()) == 1
    letters = await office.store.read(lambda tx: Outbox(tx).dead_letters(10))
    assert [letter for letter in letters if letter.can_go] == []
