"""Refuse requests of people without access, and tell only them."""

from __future__ import annotations

from dataclasses import replace

import structlog
from pydantic import SecretStr

from bot import slack_text
from bot.messages import general as say
from bot.messages.job_answers import with_prompt
from bot.model import lifecycle
from bot.model.access import Access
from bot.model.digests import Subscription, SubscriptionState
from bot.model.ids import ChannelId, RequestKey, UserId
from bot.model.message import Message
from bot.model.origin import Origin, is_of_message
from bot.model.outbox import NewDelivery
from bot.model.prompts import Prompt, PromptKind
from bot.model.questions import Question
from bot.store import Transaction
from bot.work.access.check import Decision
from bot.work.context import Context, WorkerContext

log = structlog.get_logger(__name__)


async def denial(context: Context, origin: Origin, decision: Decision) -> Message | None:
    """Return the message for somebody who may not use the bot or may not decide about a prompt.

    None if they wrote a message, and were told within the last hour that they may not use the bot. What is
    typed or pressed has an address for an answer, which is private and disturbs nobody.
    """
    if decision.decided_by is not None:
        return say.not_yours(decision.decided_by)
    access = decision.denied or Access.UNTOLD
    may_tell = await context.store.write(lambda tx: _may_tell(context, tx, origin.user, access))
    return say.not_allowed(access) if may_tell or origin.response_url is not None else None


def _may_tell(context: Context, tx: Transaction, user: UserId, access: Access) -> bool:
    """Return whether to tell somebody about a refusal, and store that they are told.

    Whoever is asked to try again in a minute, because Slack could not tell who they are, is told each time.
    """
    if access is Access.UNTOLD:
        return True
    return tx.members.may_tell_denied(user, context.access_policy.rule, context.clock())


def refuse_prompt(context: WorkerContext, tx: Transaction, prompt: Prompt, access: Access) -> None:
    """Refuse a prompt, and the job that it starts, before the channel sees anything of it."""
    now = context.clock()
    url = _apply_refusal(context, tx, prompt)
    job = tx.jobs.known(prompt.job)
    if prompt.kind is PromptKind.START:
        tx.jobs.apply(prompt.job, lifecycle.denied(job, access, now))
    origin = _origin(f"prompt:{prompt.id}", prompt.asked_by, prompt.channel or job.channel, url)
    tell_denied(context, tx, origin, access, prompt=_typed(prompt))
    log.info("prompt_denied", prompt=prompt.id, access=access)
    context.count("prompts", "denied")


def refuse_named(context: WorkerContext, tx: Transaction, prompt: Prompt, message: Message) -> None:
    """Refuse a follow-up from outside the job's channel, and tell its sender in private."""
    tell_named(context, tx, prompt, with_prompt(message, _typed(prompt)))
    _apply_refusal(context, tx, prompt)
    log.info("follow_up_refused", prompt=prompt.id)
    context.count("prompts", "denied")


def tell_named(context: WorkerContext, tx: Transaction, prompt: Prompt, message: Message) -> None:
    """Tell the sender of a follow-up from outside the job's channel once, in private, what came of it."""
    channel = prompt.channel or tx.jobs.known(prompt.job).channel
    url = tx.prompts.response_url(prompt.id)
    key = f"prompt:{prompt.id}:named"
    note = NewDelivery.private(key, channel, prompt.asked_by, message, response_url=url)
    tx.outbox.add(note, context.clock())


def _typed(prompt: Prompt) -> str:
    """Return the text of a prompt that was typed into a command or a form, where nobody sees it any more."""
    return "" if is_of_message(prompt.key) else slack_text.to_plain(prompt.raw, {}, {})


def _apply_refusal(context: WorkerContext, tx: Transaction, prompt: Prompt) -> SecretStr | None:
    """Refuse a prompt, and return the response URL for a private answer."""
    url = tx.prompts.response_url(prompt.id)
    tx.prompts.apply(prompt.id, lifecycle.prompt_denied(prompt), owner=context.owner)
    return url


def refuse_question(context: WorkerContext, tx: Transaction, question: Question, access: Access) -> None:
    """Refuse a question, and stop fetching the snapshots that nobody else waits for."""
    tx.questions.refused(question.id, context.owner)
    tx.snapshots.want(question.snapshots, question.kind, None)
    origin = _origin(f"question:{question.id}", question.user, question.channel, question.response_url)
    origin = replace(origin, thread=question.thread_ts)
    tell_denied(context, tx, origin, access)


def refuse_subscription(
    context: WorkerContext, tx: Transaction, subscription: Subscription, access: Access
) -> None:
    """End a new subscription, unless it has been changed meanwhile."""
    changed = tx.subscriptions.change(
        subscription.id,
        was=SubscriptionState.NEW,
        revision=subscription.revision,
        state=SubscriptionState.ENDED,
        response_url=None,
    )
    if changed:
        what = f"subscription:{subscription.id}:{subscription.revision}"
        origin = _origin(what, subscription.owner, subscription.channel, subscription.response_url)
        tell_denied(context, tx, origin, access)


def _origin(row: str, user: UserId, channel: ChannelId, url: SecretStr | None) -> Origin:
    """Return the origin of the request that a row stores, with the row's name as its key."""
    return Origin(RequestKey(row), user, channel, response_url=url)


def tell_denied(
    context: Context,
    tx: Transaction,
    origin: Origin,
    access: Access,
    *,
    prompt: str = "",
) -> None:
    """Tell the person who asked why it was refused, in private; about messages at most once an hour.

    ``prompt``: their text to give back, if they do not see it any more.
    """
    may_tell = _may_tell(context, tx, origin.user, access)
    if not (may_tell or prompt or origin.response_url is not None):
        return
    message = with_prompt(say.not_allowed(access), prompt)
    key, url = f"{origin.key}:not_allowed", origin.response_url
    thread = origin.thread if url is not None else None
    note = NewDelivery.private(key, origin.channel, origin.user, message, response_url=url, thread=thread)
    tx.outbox.add(note, context.clock())
