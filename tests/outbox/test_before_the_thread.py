"""Replies in a job's thread wait for the job's first message."""

from __future__ import annotations

from tests.talk import Talk


async def test_follow_up_before_the_first_message_appears_in_the_thread(talk: Talk) -> None:
    for number in range(12):
        await (talk.ana if number % 2 else talk.ben).types(f"/docs-agent Add page {number}")
    await talk.ana.types("/docs-followup 12 Add a picture")
    await talk.time.passes(60)
    roots = talk.channel()
    assert len(roots) == 12
    [twelfth] = [number for number, root in enumerate(roots, 1) if "· Job 12 ·" in root]
    lines = [line for number in range(1, 13) for line in talk.replies(number)]
    assert lines == talk.replies(twelfth)
    [line] = lines
    assert "Add a picture" in line
    talk.ana.reads()


async def test_job_without_a_first_message_returns_each_prompt_to_its_sender(talk: Talk) -> None:
    others = [f"Add guide {number}" for number in range(5)]
    for text in others:
        await talk.newcomer(text).asks(text)
    await talk.ana.types("/docs-agent Add a page on keys", "ana-ben")
    await talk.ana.types("/docs-followup 6 Add a picture", "ana-ben")
    await talk.ben.types("/docs-followup 6 Add a table", "ana-ben")
    assert [len(person.reads()) for person in (talk.ana, talk.ben)] == [1, 1]
    await talk.time.passes(60)
    assert sorted(talk.agent_got()) == others
    assert len(talk.channel()) == len(others)
    for person, texts in (
        (talk.ana, ["Add a page on keys", "Add a picture"]),
        (talk.ben, ["Add a table"]),
    ):
        notes = person.reads()
        assert ["Nothing was started" in note for note in notes] == [True] * len(texts)
        assert [note.splitlines()[-1] for note in notes] == texts
    assert "deliveries.message" not in talk.kept("picture")
