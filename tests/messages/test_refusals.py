"""What people are told when Slack refuses a post: what that means and what to do, and no code of Slack."""

from __future__ import annotations

import pytest

from bot.messages import digests, job_answers, visitors_answers
from bot.model.ids import JobNumber, Message, Refusal
from bot.model.outbox import NotPosted
from bot.slack.client import MEANINGS
from tests.builders import CHANNEL, NOW
from tests.messages.samples import PULL_REQUEST, job
from tests.messages.visitor_samples import subscription

BOT = "docs-agent"
each_meaning = pytest.mark.parametrize("meaning", Refusal)


def refused(meaning: Refusal, number: JobNumber | None = None) -> NotPosted:
    """A refusal in ``CHANNEL``."""
    return NotPosted(meaning, CHANNEL, NOW, number)


def told(meaning: Refusal) -> list[Message]:
    """Everything that anybody is told of such a refusal, the list of subscriptions last."""
    why, to = refused(meaning, JobNumber(42)), subscription(last_result=f"not posted: {meaning}")
    return [
        job_answers.cannot_post(why, BOT),
        job_answers.undelivered(job(), why, BOT),
        visitors_answers.undelivered(why, BOT, is_file=True),
        visitors_answers.undelivered(why, BOT, is_file=False),
        digests.cannot_subscribe(why, BOT),
        digests.paused(to, why, BOT),
        digests.not_posted(to, why, BOT),
        digests.listed([to], NOW),
    ]


@each_meaning
def test_no_code_reaches_people(meaning: Refusal) -> None:
    codes = {*MEANINGS, *(each.value for each in Refusal if "_" in each.value)}
    assert [said.text for said in told(meaning) if any(code in said.text for code in codes)] == []


@each_meaning
def test_a_refusal_names_the_channel_since_it_may_be_read_elsewhere(meaning: Refusal) -> None:
    *private, _ = told(meaning)
    about_channel = [said.text for said in private if "send you the file" not in said.text]
    assert len(about_channel) == 6
    assert all(f"<#{CHANNEL}>" in said for said in about_channel)


def test_each_meaning_is_told_in_its_own_words() -> None:
    said = {meaning: told(meaning)[0].text for meaning in Refusal}
    alike = [{each for each in Refusal if said[each] == text} for text in dict.fromkeys(said.values())]
    assert [each for each in alike if len(each) > 1] == [
        {Refusal.BLOCKS, Refusal.PASSING, Refusal.PERMANENT},
        {Refusal.NOT_A_MEMBER, Refusal.NOT_VISIBLE},
    ]


def test_a_refusal_without_a_known_meaning_leads_to_the_log() -> None:
    said = job_answers.cannot_post(refused(Refusal.PERMANENT, JobNumber(42)), BOT).text
    log = "Slack refused it. Whoever runs this bot finds why in its log (Job 42, <!date^1793610000^{time}|"
    assert log in said


@each_meaning
def test_when_the_thread_cannot_be_told_the_person_gets_the_result(meaning: Refusal) -> None:
    said = job_answers.undelivered(job(), refused(meaning), BOT).text
    assert f"*Pull request ready* · <{PULL_REQUEST}|Pull request #7 · code.example>" in said
    is_gone = said.startswith(":warning: The thread of Job 42 is gone, so here: *Pull request ready*")
    assert is_gone == (meaning is Refusal.THREAD_GONE)
