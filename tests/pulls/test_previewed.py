"""The preview of a job's pages: asked for at a press, built, opened, and mended when it breaks."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from datetime import datetime

import pytest

from tests.services import LINK, PREVIEW
from tests.talk import Talk
from tests.talk_people import Person, Shown

BUILT = {"status": "success"}
SHOWN = f"Preview: <{PREVIEW}|preview.example>"
BROKEN = {"status": "failure", "logs": ["Building", "Error: <!channel> is never closed\n"]}


_END = re.compile(r"[>*] is (done|merged)|:wrench: Preview builds again")


async def starts(talk: Talk, **settings: object) -> None:
    """Let a job end with a pull request of a branch of its own."""
    await talk.process.starts(**settings)
    talk.service.branch = "agent/quickstart"
    await talk.finished()


def end(talk: Talk, job: int = 1) -> Shown:
    """Read the newest end of a job as it is shown now."""
    return [reply for reply in talk.replies(job) if _END.search(reply)][-1]


def offered(talk: Talk, job: int = 1) -> list[str]:
    """Return the buttons of a result besides those of its pull request."""
    return [
        label for label in end(talk, job).buttons if not label.startswith(("Review", "Changes"))
    ]


async def presses(
    talk: Talk, label: str = "Preview", by: Person | None = None, job: int = 1
) -> str:
    """Press a button of a job's result and read the private answers."""
    person = by or talk.ana
    await person.presses(label, on=end(talk, job))
    await talk.time.passes(2)
    return "\n".join(person.reads())


async def test_press_builds_a_preview_and_links_it(talk: Talk) -> None:
    await starts(talk)
    assert offered(talk) == ["Preview"]
    assert await presses(talk, by=talk.ben) == ""
    assert offered(talk) == []
    assert "about two minutes" in end(talk).blocks
    assert PREVIEW not in end(talk).blocks
    talk.service.build = BUILT
    await talk.time.passes(15)
    assert len(offered(talk)) == 1
    assert f"{SHOWN}. It may ask you to log in" in end(talk).blocks
    assert talk.service.calls.count("preview") == 1
    talk.everything()


async def test_log_of_a_broken_build_goes_to_the_agent(talk: Talk) -> None:
    await starts(talk)
    talk.service.build = BROKEN
    await presses(talk)
    await talk.time.passes(15)
    broken = end(talk)
    assert "doesn't build: “Error: &lt;!channel&gt; is never closed”" in broken.blocks
    [fix] = offered(talk)
    for _ in range(2):
        await talk.ana.presses(fix, on=broken)
    await talk.time.passes(20)
    [_, (job, prompt)] = talk.service.prompts
    assert job == "job-1"
    assert "> Building\n> Error: <!channel> is never closed" in prompt
    assert talk.replies()[-1] == ":wrench: Fixing the preview…"
    talk.service.build = {"status": "queued"}
    await talk.ends()
    await talk.time.passes(15)
    assert "*Fix of the preview* is done: <" in end(talk)
    assert "about two minutes" in end(talk).blocks
    talk.service.build = BUILT
    await talk.time.passes(60)
    *earlier, mended, told = talk.replies()
    assert not any("Fix it" in str(reply.buttons) for reply in earlier)
    assert mended.startswith(f"<@{talk.ana.id}> :wrench: Preview builds again.")
    assert "Open preview" in str(mended.buttons)
    assert told.startswith(f"<@{talk.ana.id}> The preview builds again.")
    assert talk.service.calls.count("preview") == 2
    assert "doesn't build. Fix what" not in "\n".join(talk.replies())
    talk.everything()


async def test_preview_that_breaks_again_may_be_fixed_again(talk: Talk) -> None:
    await starts(talk)
    talk.service.build = BROKEN
    await presses(talk)
    await talk.time.passes(15)
    for version in (2, 3):
        await talk.ben.presses("Fix it", on=end(talk))
        await talk.time.passes(20)
        await talk.ends()
        await talk.time.passes(60)
        assert talk.replies()[-1].startswith(f"<@{talk.ben.id}> :warning: The preview doesn't")
        assert len(talk.service.prompts) == version
    assert "builds again" not in talk.everything()


async def test_fix_that_fails_is_named_by_a_sentence(talk: Talk) -> None:
    await starts(talk)
    talk.service.build = BROKEN
    await presses(talk)
    await talk.time.passes(15)
    await talk.ana.presses("Fix it", on=end(talk))
    await talk.time.passes(20)
    await talk.ends("failed", pr_link=None)
    await talk.time.passes(60)
    assert ":x: *Fix of the preview* failed" in talk.everything()
    assert talk.service.calls.count("preview") == 1


async def test_person_who_asked_for_a_preview_reads_when_it_is_there(talk: Talk) -> None:
    await starts(talk)
    await presses(talk, by=talk.ben)
    count = len(talk.replies())
    talk.service.build = BUILT
    await talk.time.passes(15)
    assert len(talk.replies()) == count + 1
    assert talk.replies()[-1].startswith(f"<@{talk.ben.id}> The preview is ready.")
    assert any(label.startswith("Open preview") for label in talk.replies()[-1].buttons)
    await talk.time.passes(hours=1)
    assert len(talk.replies()) == count + 1
    talk.everything()


async def test_reply_about_a_preview_comes_once_though_the_process_dies(talk: Talk) -> None:
    await starts(talk)
    talk.service.build = BUILT
    await talk.ana.presses("Preview", on=end(talk))
    await talk.time.passes(2)
    late = talk.service.hangs("build")
    await talk.time.passes(15)
    talk.process.dies()
    await talk.process.starts()
    await talk.time.passes(minutes=5)
    late.comes(status="success")
    await talk.time.passes(60)
    assert [reply for reply in talk.replies() if "The preview is ready" in reply] == [
        talk.replies()[-1]
    ]
    talk.everything()


async def test_log_of_an_overtaken_build_does_not_go_to_the_agent(talk: Talk) -> None:
    await starts(talk)
    talk.service.build = BROKEN
    await presses(talk)
    await talk.time.passes(15)
    broken = end(talk)
    [fix] = offered(talk)
    await talk.ana.replies("Make it shorter, in two paragraphs")
    await talk.time.passes(20)
    await talk.ana.presses(fix, on=broken)
    assert "decided already" in talk.ana.reads()[-1]
    await talk.time.passes(20)
    assert len(talk.agent_got()) == 2
    talk.everything()


async def test_keys_in_a_build_log_are_masked(talk: Talk) -> None:
    await starts(talk)
    keys = ("xoxb-582910437762-Kq7wLm2x", "sk_live_51HqLyjWDarjtT1zdp7dc", "hunter2")
    lines = [f"Error: {'x ' * 140}{keys[0]}", f"token={keys[1]}", f"\u200bpassword is {keys[2]}"]
    talk.service.build = {"status": "failure", "logs": lines}
    await presses(talk)
    await talk.time.passes(15)
    assert "doesn't build: “password is [key]”" in end(talk).blocks
    assert not [key for key in keys if talk.kept(key[:8])]
    await presses(talk, offered(talk)[0])
    await talk.time.passes(20)
    prompt = talk.agent_got()[-1]
    assert "The build's log ends with these lines:\n> Error: x x" in prompt
    assert not [key for key in keys if key[:8] in f"{prompt} {talk.everything()}"]


async def test_preview_stays_after_a_follow_up(talk: Talk) -> None:
    await starts(talk)
    talk.service.build = BUILT
    await presses(talk)
    await talk.time.passes(15)
    before = offered(talk)
    await talk.ana.replies("Make it shorter, in two paragraphs")
    await talk.time.passes(20)
    await talk.ends()
    await talk.time.passes(60)
    assert offered(talk) == before != ["Preview"]
    assert "the docs service renews it" in end(talk).blocks
    talk.everything()


@pytest.mark.parametrize("status", [403, 404])
async def test_refused_previews_are_not_offered_for_a_day(talk: Talk, status: int) -> None:
    await starts(talk)
    ready = end(talk)
    talk.service.says("preview", status)
    assert "made no preview of Job 1" in await presses(talk, by=talk.ben)
    assert offered(talk) == []
    await talk.ana.presses("Preview", on=ready)
    assert "made no preview of Job 1" in talk.ana.reads()[0]
    assert talk.service.calls.count("preview") == 1
    await talk.finished("Add another page")
    assert offered(talk, 2) == []
    await talk.time.passes(hours=25)
    await talk.finished("Add a third page")
    assert offered(talk, 3) == ["Preview"]


async def test_preview_is_requested_twice_after_lost_answers(talk: Talk) -> None:
    await starts(talk)
    talk.service.loses_the_answer(times=3)
    await presses(talk)
    await talk.time.passes(150)
    assert talk.service.calls.count("preview") == 2
    assert offered(talk) == ["Preview"]
    talk.everything()


async def test_preview_is_requested_twice_after_crashes(talk: Talk) -> None:
    await starts(talk)
    talk.service.hangs("preview")
    await presses(talk)
    for _ in range(2):
        talk.process.dies()
        talk.service.hangs("preview")
        await talk.process.starts()
        await talk.time.passes(100)
    await talk.time.passes(100)
    assert talk.service.calls.count("preview") == 2
    talk.everything()


async def test_preview_beyond_the_services_limit_waits_for_its_time(talk: Talk) -> None:
    await starts(talk)
    talk.service.says("preview", 429, seconds=50, times=2)
    await presses(talk)
    await talk.time.passes(60)
    assert talk.service.calls.count("preview") == 2
    await talk.time.passes(60)
    assert talk.service.calls.count("preview") == 3
    talk.everything()


def previews_a_minute(talk: Talk, most: int) -> Callable[[], float]:
    """Return the limit of a service: the seconds until another preview may be asked for, or 0."""
    begun: list[datetime] = []

    def wait_seconds() -> float:
        begun[:] = [at for at in begun if (talk.time.at - at).total_seconds() < 60]
        if len(begun) >= most:
            return math.ceil(60 - (talk.time.at - begun[0]).total_seconds())
        begun.append(talk.time.at)
        return 0.0

    return wait_seconds


async def test_previews_of_one_person_delay_nobody_else(talk: Talk) -> None:
    await starts(talk)
    for number in range(2, 18):
        await talk.finished(f"Write page {number}")
    talk.service.preview_wait_seconds = previews_a_minute(talk, 5)
    talk.service.build = BUILT
    for job in range(1, 17):
        await talk.ana.presses("Preview", on=end(talk, job))
    await talk.time.passes(5)
    await presses(talk, by=talk.ben, job=17)
    await talk.time.passes(40)  # the ends of all these jobs are edited one after another
    assert "The preview waits for its turn" in end(talk, 17).blocks
    await talk.time.passes(50)
    assert SHOWN in end(talk, 17).blocks
    await talk.time.passes(240)
    assert all(SHOWN in end(talk, job).blocks for job in range(1, 18))
    talk.everything()


async def test_build_without_an_end_is_given_up(talk: Talk) -> None:
    await starts(talk)
    await presses(talk)
    await talk.time.passes(hours=2)
    assert len(talk.ana.reads()) == 1
    assert offered(talk) == ["Preview"]
    talk.everything()


async def test_preview_follows_after_a_refused_key(talk: Talk) -> None:
    await starts(talk, admins=talk.ben.id)
    talk.service.says("preview", 401)
    await presses(talk)
    assert len(talk.ben.reads()) == 1
    talk.service.build = BUILT
    await talk.time.passes(120)
    assert SHOWN in end(talk).blocks
    assert talk.errors() == {"key_refused"}
    talk.everything()


async def test_deployment_branch_has_no_preview(talk: Talk) -> None:
    await talk.finished()
    assert offered(talk) == []


async def test_previews_can_be_turned_off(talk: Talk) -> None:
    await starts(talk, previews="off")
    assert offered(talk) == []


async def test_previews_can_be_built_for_every_result(talk: Talk) -> None:
    talk.service.build = BUILT
    await starts(talk, previews="always")
    await talk.time.passes(15)
    assert SHOWN in end(talk).blocks
    assert "The preview is ready" not in "\n".join(talk.replies())
    talk.everything()


async def test_merged_pull_request_has_no_preview(talk: Talk) -> None:
    await talk.process.starts(github_token="github-token-of-talk")
    talk.service.branch = "agent/quickstart"
    await talk.started()
    await talk.ends(pr_link=LINK)
    ready = end(talk)
    talk.github.merge(talk.time.at)
    await talk.time.passes(700)
    await talk.ana.presses("Preview", on=ready)
    await talk.time.passes(2)
    assert "made no preview of Job 1" in talk.ana.reads()[0]
    assert "preview" not in talk.service.calls
    talk.everything()


async def test_preview_on_a_host_that_is_not_allowed_is_text(talk: Talk) -> None:
    await starts(talk, allowed_link_hosts="code.example")
    talk.service.build = BUILT
    await presses(talk)
    await talk.time.passes(15)
    assert offered(talk) == []
    assert "preview.example/acme" in end(talk).blocks
    assert f"<{PREVIEW}" not in end(talk).blocks
    talk.everything()


async def test_unknown_branch_leaves_previews_to_other_jobs(talk: Talk) -> None:
    await starts(talk)
    await presses(talk)
    await talk.time.passes(hours=2)
    talk.service.says("preview", 404)
    await presses(talk)
    await talk.time.passes(60)
    await talk.finished("Add another page")
    assert offered(talk, 2) == ["Preview"]


async def test_job_forgotten_while_its_preview_is_requested_stays_forgotten(talk: Talk) -> None:
    await starts(talk)
    late = talk.service.hangs("preview")
    await presses(talk)
    assert "Forgotten of U01ANA" in await talk.operator("forget", talk.ana.id)
    late.comes(202, statusId="build-1", previewUrl=PREVIEW)
    await talk.time.passes(30)
    assert talk.kept(PREVIEW) == []
    assert "build" not in talk.service.calls
    talk.everything()


async def test_person_who_asked_for_a_preview_is_forgotten(talk: Talk) -> None:
    await starts(talk)
    await presses(talk, by=talk.ben)
    await talk.operator("forget", talk.ben.id)
    talk.service.build = BUILT
    await talk.time.passes(15)
    assert SHOWN in end(talk).blocks
    await talk.operator("forget", talk.ben.id)
    assert [column for column in talk.kept(talk.ben.id) if not column.startswith("members.")] == []
    await presses(talk, offered(talk)[0])
    await talk.time.passes(60)  # a branch is built once a minute at most
    assert SHOWN in end(talk).blocks
    talk.everything()
