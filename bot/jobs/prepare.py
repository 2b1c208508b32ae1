"""The worker that prepares new prompts: their names and attachments, and their job's thread."""

from __future__ import annotations

from dataclasses import replace

from bot.context import WorkerContext, make_claim
from bot.engine import unless_taken_over
from bot.jobs.attachments import Attachments, attachments_of
from bot.jobs.messages.jobs import FIXING_PREVIEW, follow_up_by_command
from bot.jobs.model import lifecycle
from bot.jobs.model.jobs import WaitReason
from bot.jobs.model.prompts import Act, Prompt, PromptKind
from bot.jobs.names import names_in
from bot.jobs.service_health import FIRST_BACK_OFF_SECONDS, with_known_wait
from bot.jobs.settle_prompt import tell_behind_unconfirmed
from bot.jobs.store.audit import Audit
from bot.jobs.store.jobs import Jobs
from bot.jobs.store.limits import BackOffs
from bot.jobs.store.prompts import Prompts
from bot.jobs.thread import open_thread, say
from bot.logs import about_request
from bot.store import LeaseLost, Transaction

_AT_ONCE = 20
claim_new_prompts = make_claim(
    lambda tx, claimer, limit: Prompts(tx).claim_new(claimer, min(limit, _AT_ONCE))
)
"""Claims new requests.

Somebody's second job in a channel waits for the status message of their first.
"""


async def prepare(context: WorkerContext, prompt: Prompt) -> None:
    """Turn a stored request into a prompt that waits to be sent.

    Have its job's status message posted.
    """
    with about_request(prompt.key), unless_taken_over("prompt", prompt.id):
        names = await names_in(context, prompt.raw, prompt.channel, context.timeouts.names_seconds)
        text = names.resolve(prompt.raw)
        attachments = await attachments_of(context, prompt)
        try:
            await context.settle(lambda tx: _write(context, tx, prompt, text, attachments))
        except LeaseLost:
            # Edited since, and perhaps claimed again by this process, which prepares the new text.
            await context.settle(lambda tx: Prompts(tx).free_new(prompt.id, context.owner))
            raise
        finally:
            context.wake()


def _write(
    context: WorkerContext, tx: Transaction, prompt: Prompt, text: str, attachments: Attachments
) -> None:
    # Though others are refused: perhaps this one is not.
    BackOffs(tx).end_by(prompt.job, context.after(FIRST_BACK_OFF_SECONDS))
    prepared = lifecycle.prompt_prepared(prompt, text, attachments.text)
    Prompts(tx).save(prompt, prepared, owner=context.owner)
    now = context.clock()
    job = Jobs(tx).get_or_raise(prompt.job)
    if prompt.text is None:
        # Otherwise its message was edited, and the act is recorded.
        act = Act.ASKED if prompt.kind is PromptKind.START else Act.STEERED
        Audit(tx).decided(act, prompt.asked_by, job, prompt.asked_at, prompt.id, prompt.app)
    earlier = attachments.earlier or job.thread_context
    if prompt.kind is PromptKind.START:
        new = replace(job, text=text, thread_context=earlier)
        if prompt.held_until is not None:
            new = replace(new, wait_until=prompt.held_until, wait_reason=WaitReason.HELD)
        job = Jobs(tx).save(job, with_known_wait(tx, new, now))
        open_thread(tx, job, now)
    else:
        new = replace(job, thread_context=earlier)
        job = Jobs(tx).save(job, with_known_wait(tx, new, now))
        if prompt.message_ts is None:
            message = FIXING_PREVIEW
            if not prompt.is_preview_fix:
                message = follow_up_by_command(job, text, prompt.asked_by)
            say(tx, job, f"follow_up:{prompt.id}", message, now)
        tell_behind_unconfirmed(tx, job, prompt, now)
    if attachments.not_sent is not None:
        say(tx, job, f"files:{prompt.id}", attachments.not_sent, now)
