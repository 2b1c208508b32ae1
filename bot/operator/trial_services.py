"""The steps of ``docs-bot doctor --try`` about the docs service and GitHub."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from functools import partial

from sqlalchemy import select

from bot.docs_api import Job
from bot.docs_api.client import Days
from bot.github import GithubError
from bot.jobs.store.tables import jobs
from bot.operator.trial_step import Step, StepFailed, StepSkipped, Trial
from bot.store import Transaction

_QUESTION = "What is this documentation about?"
_PROMPT = (
    "Read the title of the start page of this documentation and answer with that title. Change no "
    "file and open no pull request."
)
_FOLLOW_UP = "Answer with the title once more. Change no file and open no pull request."
_ASSISTANT_SECONDS = 60.0
_POLL_SECONDS = 5.0
_PERIOD = timedelta(days=7)


async def _try_visitors(trial: Trial) -> str:
    page = await trial.call(
        lambda: trial.docs.visitors(trial.project.id, limit=1, **_find_last_week())
    )
    return f"answered, with {len(page.visitors)} row"


async def _try_views(trial: Trial) -> str:
    page = await trial.call(
        lambda: trial.docs.views(trial.project.id, limit=1, **_find_last_week())
    )
    return f"answered, with {len(page.views)} row"


async def _try_searches(trial: Trial) -> str:
    page = await trial.call(
        lambda: trial.docs.searches(trial.project.id, limit=1, **_find_last_week())
    )
    return f"answered, with {len(page.searches)} row"


async def _try_votes(trial: Trial) -> str:
    page = await trial.call(
        lambda: trial.docs.feedback_by_page(trial.project.id, limit=1, **_find_last_week())
    )
    return f"answered, with {len(page.feedback)} row"


async def _try_comments(trial: Trial) -> str:
    page = await trial.call(
        lambda: trial.docs.feedback(trial.project.id, limit=1, **_find_last_week())
    )
    return f"answered, with {len(page.feedback)} row"


async def _try_questions(trial: Trial) -> str:
    page = await trial.call(
        lambda: trial.docs.assistant(trial.project.id, limit=1, **_find_last_week())
    )
    return f"answered, with {len(page.conversations)} row"


def _find_last_week() -> Days:
    """Return the last seven days."""
    today = datetime.now(UTC).date()
    return Days(date_from=today - _PERIOD, date_to=today)


async def _try_search(trial: Trial) -> str:
    discovery = trial.discovery
    if discovery is None:
        raise StepSkipped("there is no ASSISTANT_KEY: the bot answers no questions")
    found = await trial.call(lambda: discovery.search(_QUESTION, limit=1))
    if not found:
        return "answered, with no page"
    page = await trial.call(lambda: discovery.page(found[0].path))
    return f"answered, with a page of {len(page)} characters"


async def _try_assistant(trial: Trial) -> str:
    discovery = trial.discovery
    if discovery is None:
        raise StepSkipped("there is no ASSISTANT_KEY: the bot answers no questions")
    trial.ask("The next step asks the docs service's assistant, which costs one message.")
    asking = partial(discovery.ask, _QUESTION, key=trial.token)
    reply = await trial.call(asking, _ASSISTANT_SECONDS)
    return f"answered with {len(reply.text)} characters; it cost one message"


async def _try_job(trial: Trial) -> str:
    """Start a harmless job, and give it a follow-up."""
    if not trial.options.with_job:
        raise StepSkipped("it would cost two uses of the agent: --job")
    project = trial.project.id
    trial.ask("The next step starts a job and gives it a follow-up: two uses of the agent.")
    created = await trial.call(lambda: trial.docs.create_job(project, _PROMPT))
    ended = await _wait_for_end(trial, created.id)
    await trial.call(lambda: trial.docs.send_follow_up(project, created.id, _FOLLOW_UP))
    # The first answers may still show the state before the follow-up.
    await trial.clock.sleep(_POLL_SECONDS)
    again = await _wait_for_end(trial, created.id)
    text = f"job {created.id}: {ended.status}, after its follow-up {again.status}"
    link = again.pr_link or ended.pr_link
    if link:
        trial.pull_request = link
        trial.by_hand.append(f"the pull request {link} (close it)")
    return f"{text}; {'pull request ' + link if link else 'no pull request'}"


async def _wait_for_end(trial: Trial, job_id: str) -> Job:
    """Poll a job until its end. Raises StepFailed if it takes too long or fails."""
    seconds = trial.options.job_seconds
    deadline = trial.clock.now() + seconds
    while True:
        job = await trial.call(lambda: trial.docs.get_job(trial.project.id, job_id))
        if not job.is_running:
            break
        if trial.clock.now() >= deadline:
            raise StepFailed(
                f"job {job_id} is {job.status} after {seconds:g} s",
                "Look at it in the dashboard of the docs service.",
            )
        await trial.clock.sleep(_POLL_SECONDS)
    if job.status == "failed":
        raise StepFailed(f"job {job_id} failed", "Look at it in the dashboard.")
    return job


async def _try_preview(trial: Trial) -> str:
    del trial
    raise StepSkipped("it would build the site: the first job with a pull request tries it")


async def _try_github_token(trial: Trial) -> str:
    if trial.settings.github_token is not None:
        await trial.call(trial.github.check)
        return "takes the token"
    try:
        await trial.call(trial.github.check)
    except GithubError as error:
        # Docs that are not on GitHub need neither a token nor a way there.
        raise StepSkipped(f"there is no GITHUB_TOKEN, and {error}") from None
    return "answers; without GITHUB_TOKEN only public pull requests are visible"


async def _try_pull_request(trial: Trial) -> str:
    link = trial.pull_request or await trial.store.read(_find_newest_link)
    pull_request_id = trial.github.pull_request_of(link) if link else None
    if pull_request_id is None:
        raise StepSkipped("no job has a pull request on GitHub yet")
    read = await trial.call(lambda: trial.github.pull_request(pull_request_id))
    is_open = read is not None and read.is_open
    return f"read {link}: {'open' if is_open else 'closed'}"


def _find_newest_link(tx: Transaction) -> str | None:
    """Return the pull request of the newest job with one; None without any."""
    # The newest jobs only, so that a long table is not read.
    newest = select(jobs.c.pr_link).order_by(jobs.c.number.desc()).limit(100)
    return next((link for link in tx.connection.execute(newest).scalars() if link), None)


def _make_analytics_step(
    name: str, run: Callable[[Trial], Awaitable[str]], topic: str, loss: str
) -> Step:
    return Step(
        name,
        run,
        (f"docs {topic}",),
        loss,
        f"The docs service has none here, and the bot does without: {loss[0].lower()}{loss[1:]}",
        assumptions=(f"analytics-{topic}",),
    )


SERVICE_STEPS = (
    Step(
        "visitors",
        _try_visitors,
        ("docs visitors",),
        "Nobody sees visitors, and there is no digest.",
        assumptions=("analytics-visitors",),
    ),
    _make_analytics_step("views", _try_views, "views", "Digests have no views."),
    _make_analytics_step(
        "searches", _try_searches, "searches", "Nobody sees what readers look for."
    ),
    _make_analytics_step(
        "votes", _try_votes, "votes", "Nobody sees which pages readers vote against."
    ),
    _make_analytics_step(
        "comments", _try_comments, "comments", "Nobody sees what readers comment."
    ),
    _make_analytics_step(
        "readers' questions", _try_questions, "questions", "Nobody sees what readers ask."
    ),
    Step(
        "search",
        _try_search,
        ("docs search", "docs page"),
        "Questions get no pages, and a lack of the docs is not noticed.",
        assumptions=("search",),
    ),
    Step(
        "assistant",
        _try_assistant,
        ("docs assistant",),
        "Questions get no answer, only pages.",
        assumptions=("assistant-stream",),
    ),
    Step(
        "job",
        _try_job,
        ("docs job", "docs follow-up"),
        "Nobody can ask for a change.",
        assumptions=("job-path", "job-states"),
    ),
    Step(
        "preview",
        _try_preview,
        ("docs preview",),
        "Threads show no preview of a change.",
    ),
    Step(
        "github",
        _try_github_token,
        ("github rate limit",),
        "Threads don't show what becomes of a change.",
    ),
    Step(
        "pull request",
        _try_pull_request,
        ("github pull request",),
        "Threads don't show what becomes of a change.",
        assumptions=("pull-request",),
    ),
)
"""The steps, in this order."""
