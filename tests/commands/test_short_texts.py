"""Short texts after ``/docs-agent``: the bot's own words, near misses of them, and topics."""

from __future__ import annotations

from tests.talk import Talk

UNDERSTOOD = """
jobs
gaps
status
limits
help
?
help me please
how do I use this
hello
thanks
ok
yes
cancel
stop
retry
visitors
subscribe
unsubscribe
stats
limit
job
""".strip().splitlines()
OWN_WORDS_OF_ANY_COMMAND = """
pause
resume
digest
feedback
questions
list jobs
my jobs
show my jobs
reviews
to review
version
projects
subscribe monday 09:00
jobs failed
search webhooks
list
archive 1
merge 1
close 1
approve
stats
what is this
""".strip().splitlines()
NEAR_MISSES = ["joobs", "gap", "repllies", "projct", "digset", "limitz"]
TOPICS = """
settings
history
ping
test
login
about
config
queue
templates
undo
connect
examples
whoami
who am i
pin 42
""".strip().splitlines()


async def texts_that_start_jobs(talk: Talk, texts: list[str]) -> list[str]:
    """Let Ana type each text after the command, and return those that start a job."""
    started = []
    for text in texts:
        before = len(talk.agent_got())
        await talk.ana.types(f"/docs-agent {text}")
        await talk.time.passes(20)
        if len(talk.agent_got()) > before:
            started.append(text)
    talk.everything()
    return started


async def test_text_that_is_understood_starts_no_job(talk: Talk) -> None:
    assert await texts_that_start_jobs(talk, UNDERSTOOD) == []


async def test_own_word_of_any_command_starts_no_job(talk: Talk) -> None:
    assert await texts_that_start_jobs(talk, OWN_WORDS_OF_ANY_COMMAND) == []


async def test_word_of_the_other_command_runs_it(talk: Talk) -> None:
    answer = await talk.ana.answer_to("/docs-agent subscribe monday 09:00 UTC")
    assert "digest every Monday at 09:00" in answer


async def test_misspelt_word_is_asked_about(talk: Talk) -> None:
    for text in NEAR_MISSES:
        answer = await talk.ana.answer_to(f"/docs-agent {text}")
        assert "Did you mean" in answer


async def test_topic_starts_no_job(talk: Talk) -> None:
    assert await texts_that_start_jobs(talk, TOPICS) == []
