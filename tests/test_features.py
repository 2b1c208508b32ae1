"""A bot without the features that `app.py` adds to jobs: the rest of it works."""

from __future__ import annotations

from bot.commands.feature import Feature
from bot.features import OPTIONAL_FEATURES
from bot.pulls.feature import PULLS
from bot.visitors.feature import VISITORS
from tests.answers.conftest import QUESTION
from tests.services import LINK
from tests.talk import Talk


async def test_a_bot_without_features_runs_jobs(talk: Talk) -> None:
    talk.process.features = ()
    await talk.started()
    await talk.ends()
    assert "Pull request ready" in talk.status()
    talk.everything()
    await talk.ben.presses("More", await talk.ben.answer_to("/docs-agent help"))
    assert "/docs-visitors" not in talk.ben.form()


async def test_a_bot_that_follows_no_pull_requests_tells_the_thread_of_them(talk: Talk) -> None:
    talk.process.features = [feature for feature in OPTIONAL_FEATURES if feature is not PULLS]
    await talk.process.starts(github_token="github-token-of-talk", previews="always")
    await talk.started()
    await talk.ends(pr_link=LINK)
    [end] = talk.replies()
    assert f"*Add a quickstart* is done: <{LINK}|PR #7>." in end
    assert end.buttons == ["Review #7"]
    await talk.time.passes(days=5)
    assert talk.replies() == [end]
    assert talk.github.calls == []
    await talk.ben.presses("Reviewed", on=talk.status())
    await talk.time.passes()
    assert ":white_check_mark: *Reviewed* · Job 1" in talk.status()
    await talk.ana.replies("Mention Python 3.11 too")
    await talk.time.passes(20)
    assert talk.replies()[0].buttons == []
    await talk.ana.replies("what did you change?")
    await talk.time.passes(20)
    [status] = talk.ana.reads()
    assert status.startswith(":gear: *Add a quickstart*")
    talk.everything()


async def test_a_feature_without_parts_changes_nothing(talk: Talk) -> None:
    talk.process.features = (Feature(),)
    await talk.started()
    await talk.ends(pr_link=None)
    assert "Finished without a pull request" in talk.status()
    talk.everything()


async def test_a_question_without_the_feature_that_answers_gets_a_reply(talk: Talk) -> None:
    talk.process.features = (VISITORS,)
    talk.process.answers_questions()
    asked = await talk.ana.says(f"@docs-agent {QUESTION}")
    await talk.time.passes(20)
    [answer] = [*talk.ana.reads(), *talk.thread(asked)]
    assert "I can't answer here" in answer
    assert talk.service.questions == []
    talk.everything()
