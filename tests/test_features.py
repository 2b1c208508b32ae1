"""A bot without the features that `app.py` adds to jobs: the rest of it works."""

from __future__ import annotations

from tests.talk import Talk


async def test_a_bot_without_features_runs_jobs(talk: Talk) -> None:
    talk.process.features = ()
    await talk.started()
    await talk.ends()
    assert "Pull request ready" in talk.status()
    talk.everything()
    await talk.ben.presses("More", await talk.ben.answer_to("/docs-agent help"))
    assert "/docs-visitors" not in talk.ben.form()
