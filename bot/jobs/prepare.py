"""The worker that resolves the names in new prompts and opens their threads."""

from __future__ import annotations

from dataclasses import replace

import structlog

from bot.context import WorkerContext, claiming
from bot.engine import unless_taken_over
from bot.jobs.attachments import Attachments, attachments_of, plain_text
from bot.jobs.messages.jobs import follow_up_by_command
from bot.jobs.model import lifecycle
from bot.jobs.model.prompts import Prompt, PromptKind
from bot.jobs.service_health import FIRST_SECONDS
from bot.jobs.settle_prompt import tell_behind_unconfirmed
from bot.jobs.store.audit import Audit
from bot.jobs.store.jobs import Jobs
from bot.jobs.store.limits import BackOffs
from bot.jobs.store.prompts import Prompts
from bot.jobs.thread import open_thread, redraw_face, say
from bot.logs import about_request
from bot.outbox.model import DeliveryKind, NewDelivery
from bot.outbox.store import Outbox
from bot.store import LeaseLost, Transaction

log = structlog.get_logger(__name__)
_AT_ONCE = 20


claim_new = claiming(lambda tx, claimer, limit: Prompts(tx).claim_new(claimer, min(limit, _AT_ONCE)))
"""Claims new requests. Somebody's second job in a channel waits for the face of their first."""


async def prepare(context: WorkerContext, prompt: Prompt) -> None:
    """Turn a stored request into a prompt that waits to be sent, and have its job's face posted."""
    with about_request(prompt.key), unless_taken_over("prompt", prompt.id):
        text = await plain_text(context, prompt.raw, prompt.channel)
        attachments = await attachments_of(context, prompt)
        try:
            await context.settle(lambda tx: _write(context, tx, prompt, text, attachments))
        except LeaseLost:
            # Edited meanwhile, and perhaps claimed anew by this process: it is prepared with its new text.
            await context.settle(lambda tx: Prompts(tx).free_new(prompt.id, context.owner))
            raise
        finally:
            context.wake()


def _write(
    context: WorkerContext, tx: Transaction, prompt: Prompt, text: str, attachments: Attachments
) -> None:
    # Though others are refused: perhaps this one is not.
    BackOffs(tx).end_by(prompt.job, context.after(FIRST_SECONDS))
    is_said = prompt.kind is PromptKind.FOLLOW_UP and prompt.message_ts is not None
    until = context.held_until(prompt.asked_at) if is_said else None
    prepared = lifecycle.prompt_prepared(prompt, text, attachments.text, until)
    Prompts(tx).save(prompt, prepared, owner=context.owner)
    if until is not None:
        Prompts(tx).hold(prompt.job, prompt.asked_by, prompt.asked_at, until)
    now, job = context.clock(), Jobs(tx).lock(prompt.job)
    if prompt.text is None:  # otherwise its message was edited
        Audit(tx).asked(prompt, job)
    is_start, earlier = prompt.kind is PromptKind.START, attachments.earlier or job.earlier
    job = Jobs(tx).save(job, replace(job, text=text if is_start else job.text, earlier=earlier))
    if prompt.kind is PromptKind.START:
        open_thread(tx, job, now)
    else:
        if prompt.message_ts is None:
            message = follow_up_by_command(job, text, prompt.asked_by)
            say(tx, job, f"follow_up:{prompt.id}", message, now)
        else:
            key, kind, ts = f"prompt:{prompt.id}:seen", DeliveryKind.REACTION, prompt.message_ts
            reaction = NewDelivery(key, kind, job.channel, job=job.number, message_ts=ts, reaction="eyes")
            Outbox(tx).add(reaction, now)
        tell_behind_unconfirmed(tx, job, prompt, now)
        if attachments.earlier is not None:
            redraw_face(tx, job.number, now)
    if attachments.not_sent is not None:
        say(tx, job, f"files:{prompt.id}", attachments.not_sent, now)
