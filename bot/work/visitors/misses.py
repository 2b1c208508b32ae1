"""Questions about what readers miss: stored, and answered as those about visitors are."""

from __future__ import annotations

from bot.access.admit import Allowed
from bot.context import Context
from bot.ids import Message, ProjectId, QuestionId
from bot.messages import misses as say
from bot.model.jobs import About
from bot.model.misses import SOURCES, Topic
from bot.model.questions import QuestionKind, VisitorsQuery
from bot.store import Transaction
from bot.store.questions import Questions
from bot.store.snapshots import Snapshots
from bot.work.visitors.question import WANTED, answered, with_label
from bot.work.visitors.report import misses_report


async def ask_misses(
    context: Context, allowed: Allowed, query: VisitorsQuery, project: ProjectId | None = None
) -> Message | None:
    """Store a question about what readers miss. Return why not, if the service does not give that here.

    ``project``: None for that of the channel.
    """

    def add(tx: Transaction) -> Message | None:
        about = project or context.project_of(tx, allowed.origin.channel).id
        return _ask(context, tx, allowed, with_label(context, query, about), about)

    refusal = await context.store.write(add)
    context.wake()
    return refusal


def _ask(
    context: Context, tx: Transaction, allowed: Allowed, query: VisitorsQuery, project: ProjectId
) -> Message | None:
    now, kind = context.clock(), QuestionKind.VISITORS
    sources = [each for each in SOURCES[query.topic] if not Snapshots(tx).is_not_here(project, each, now)]
    if not sources:
        return say.not_here(query)
    if Questions(tx).has_key(allowed.origin.key):
        return None
    is_final = context.analytics.is_final(query.period, now)
    found = [
        Snapshots(tx).request(
            project, query.period, with_pages=False, is_final=is_final, now=now, source=each
        )
        for each in sources
    ]
    Questions(tx).add(
        allowed.origin,
        query,
        kind=kind,
        subscription=None,
        project=project,
        now=found[0],
        was=found[1] if len(found) > 1 else None,
        older=None,
        chart=(),
        asked_at=now,
    )
    ids = [each.id for each in found]
    Snapshots(tx).try_again(ids, now)
    Snapshots(tx).want(ids, kind, now + WANTED)
    return None


async def prompt_of(context: Context, number: QuestionId, key: str) -> tuple[str, ProjectId, About] | None:
    """Return the prompt about a row of an answer or a digest, its project and what it is about.

    None if the row is no longer kept.
    """

    def find(tx: Transaction) -> tuple[str, ProjectId, About] | None:
        found = answered(context, tx, number)
        if isinstance(found, Message):
            return None
        is_digest = found[0].kind is QuestionKind.DIGEST
        for topic in (each for each in Topic if each.is_missed) if is_digest else (None,):
            answer = misses_report(context, *found, topic)
            if (row := say.row_of(answer, key)) is not None:
                return say.prompt(answer, row), found[0].project, say.asked_about(row.key, row.title)
        return None

    return await context.store.read(find)
