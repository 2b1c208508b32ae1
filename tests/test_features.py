"""A bot without the features that `app.py` adds to jobs: the rest of it works."""

from __future__ import annotations

from tests.talk import Talk


async def test_a_bot_without_features_runs_jobs(talk: Talk) -> None:
    talk.process.has_features = False
    await talk.started()
    await talk.ends()
    assert "Pull request ready" in talk.status()
    talk.everything()
    await talk.ben.types("/docs-agent help all")
    assert "/docs-visitors" not in talk.ben.reads()
    assert not [name for name in await talk.metrics() if "visitors" in name]
