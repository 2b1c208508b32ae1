"""``docs-bot doctor --try``: tries in a channel whatever the bot does in Slack and its services."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager

from bot.docs_api import DiscoveryClient, DocsClient
from bot.github import GithubClient
from bot.operator.transcript import Recorder
from bot.operator.trial_events import EVENT_STEPS, OPENING_STEP
from bot.operator.trial_services import SERVICE_STEPS
from bot.operator.trial_slack import SLACK_STEPS
from bot.operator.trial_step import (
    Step,
    StepResult,
    StepSkipped,
    Trial,
    TrialClock,
    TrialOptions,
    clean_up,
    take_step,
)
from bot.settings import Settings
from bot.slack.client import make_web_client, open_session
from bot.slack.messenger import SlackMessenger
from bot.slack.recording import recording_client
from bot.store import Store
from bot.store.trials import new_token

STEPS: tuple[Step, ...] = (OPENING_STEP, *SLACK_STEPS, *EVENT_STEPS, *SERVICE_STEPS)
"""The steps, in this order."""
_CLOCK = TrialClock()


async def run_trial(
    settings: Settings,
    options: TrialOptions,
    report: Callable[[StepResult], None],
    ask: Callable[[str], None],
    steps: Sequence[Step] = STEPS,
    *,
    clock: TrialClock = _CLOCK,
    recorder: Recorder | None = None,
) -> None:
    """Take the steps one after the other, and remove everything of the bot's in the end.

    Args:
        settings: the settings of the bot.
        options: the place of the trial, and its time limits.
        report: gets the result of each step.
        ask: gets the instructions for the person who runs the trial.
        steps: the steps.
        clock: the time.
        recorder: collects the transcript; None for none.
    """
    async with _open_clients(settings, options, ask, clock, recorder) as trial:
        try:
            for step in steps:
                report(await take_step(trial, step))
            if recorder is not None:
                report(await take_step(trial, _RECORDING_STEP))
        finally:
            report(await clean_up(trial))


async def _record_events(trial: Trial) -> str:
    """Add the events that the running bot has noted to the transcript."""
    recorder = trial.recorder
    if recorder is None:
        raise StepSkipped("nothing is recorded")
    trial.user()
    if not trial.is_open:
        raise StepSkipped("the trial could not be stored in the database")
    notes = await trial.notes()
    for note in notes:
        recorder.add_event(note)
    return f"{len(notes)} notes of the running bot"


_RECORDING_STEP = Step("transcript", _record_events, ("database",), "The transcript has no events.")


@asynccontextmanager
async def _open_clients(
    settings: Settings,
    options: TrialOptions,
    ask: Callable[[str], None],
    clock: TrialClock,
    recorder: Recorder | None,
) -> AsyncIterator[Trial]:
    """Open the clients of a trial, and close them when the block ends."""
    proxy = settings.proxy_for(settings.slack_api_url)
    async with AsyncExitStack() as stack:
        session = await stack.enter_async_context(open_session(proxy))
        kinds = {} if recorder is None else {"kind": recording_client(recorder.add_slack_call)}
        client = make_web_client(
            settings.slack_bot_token, settings.slack_api_url, session, proxy, **kinds
        )
        store = Store.open(settings.sqlalchemy_url)
        stack.push_async_callback(store.close)
        github = GithubClient(
            api_url=settings.github_api_url,
            token=settings.github_token,
            timeout_seconds=options.call_seconds,
            proxy=settings.proxy_for(settings.github_api_url),
            on_answer=recorder.add_github_call if recorder else None,
        )
        yield Trial(
            settings=settings,
            options=options,
            client=client,
            messenger=SlackMessenger(client, session, settings.slack_api_url),
            store=store,
            docs=await stack.enter_async_context(_make_docs_client(settings, options, recorder)),
            discovery=await _make_discovery_client(settings, stack, recorder),
            github=await stack.enter_async_context(github),
            token=new_token(),
            ask=ask,
            clock=clock,
            recorder=recorder,
        )


def _make_docs_client(
    settings: Settings, options: TrialOptions, recorder: Recorder | None
) -> DocsClient:
    project = settings.projects[0]
    return DocsClient(
        base_url=project.address,
        api_key=project.key,
        read_timeout_seconds=options.call_seconds,
        proxy=settings.proxy_for(project.address),
        on_answer=recorder.add_docs_call if recorder else None,
    )


async def _make_discovery_client(
    settings: Settings, stack: AsyncExitStack, recorder: Recorder | None
) -> DiscoveryClient | None:
    """Return the client of search and assistant; None without their key."""
    project = settings.projects[0]
    if project.assistant_key is None or project.assistant_domain is None:
        return None
    client = DiscoveryClient(
        project.assistant_domain,
        base_url=f"{project.address.rstrip('/')}/discovery",
        api_key=project.assistant_key,
        proxy=settings.proxy_for(project.address),
        on_answer=recorder.add_docs_call if recorder else None,
    )
    return await stack.enter_async_context(client)
