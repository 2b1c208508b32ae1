"""``/docs-visitors``: questions about visitors, people and AI, and the weekly digest."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import date
from functools import partial

from bot.access.admit import Allowed
from bot.commands.command import Answer, Command, FormState, Invocation, Press, Word, number_in
from bot.commands.own_words import run_other_word
from bot.context import Context
from bot.ids import Block, Message, ProjectId, QuestionId
from bot.intent.vocabulary import ButtonLabel
from bot.jobs.commands.channel_choices import projects_to_choose
from bot.jobs.commands.job_lists import see_page
from bot.jobs.duplicates import find_open_job
from bot.jobs.messages import forms
from bot.jobs.model.jobs import GapRef
from bot.jobs.store.jobs import Jobs
from bot.jobs.thread import status_message_link
from bot.messages import blocks as b
from bot.messages import slack_text
from bot.messages.blocks import Action
from bot.messages.general import unknown_in_options
from bot.projects import Project, Projects, UnknownProject
from bot.store import Transaction
from bot.visitors.answer_buttons import (
    Act,
    post_all_numbers,
    send_csv,
    share_numbers,
    show_further_rows,
    with_answer,
)
from bot.visitors.ask import ask_visitors
from bot.visitors.grammar import (
    BadPeriod,
    Misunderstood,
    UnknownPeriod,
    correct_text,
    find_page_name,
    parse_query,
    parse_section,
    parse_weekly,
)
from bot.visitors.messages import answers as answer_messages
from bot.visitors.messages import digests as digest_messages
from bot.visitors.messages import prompts, usage
from bot.visitors.messages.gap_rows import gap_prompt, gap_table
from bot.visitors.messages.prompts import row_reference
from bot.visitors.model.gaps import ReportType, page_row_key
from bot.visitors.model.questions import Numbers, Question, QuestionKind
from bot.visitors.model.subscriptions import SubscriptionChange
from bot.visitors.recommendations import list_more, list_recommendations
from bot.visitors.subscriptions import (
    change_subscriptions,
    digest_now,
    list_subscriptions,
    subscribe,
)

NAME = "/docs-visitors"
_LETTER_PATTERN = re.compile(r"[^\W\d_]")


def _take_project(projects: Projects, text: str) -> tuple[str, Project | None]:
    return projects.take_any(slack_text.to_plain(text, {}, {}))


def _answer_misunderstood(error: Exception, projects: Projects, text: str) -> Message | None:
    if isinstance(error, UnknownProject):
        return b.words(unknown_in_options(error.name, projects))
    if not isinstance(error, Misunderstood):
        return None
    plain = slack_text.to_plain(text, {}, {})
    for corrected in correct_text(plain):
        if corrected == "help":
            return usage.suggest_help()
        word = _find_word(corrected, projects)
        if word is not None:
            is_question = word is COMMAND.fallback_word or word.run is _ask_gaps
            return usage.offer_corrected(corrected, is_question=is_question)
    if page := find_page_name(plain):
        return usage.offer_page(str(error), page)
    return b.words(str(error))


def _find_word(text: str, projects: Projects) -> Word | None:
    """Return the word that takes a plain text with its options; None if none does."""
    meaning = COMMAND.meaning(slack_text.from_plain(text), projects)
    word = meaning[0] if meaning else COMMAND.fallback_word
    options = text if word is COMMAND.fallback_word else text.partition(" ")[2]
    return word if word.accepts is not None and word.accepts(options) else None


async def _run_corrected(context: Context, press: Press) -> Answer:
    answer = await COMMAND.run(context, Invocation(press.allowed, NAME, press.value))
    return replace(answer, replaces=answer.message is not None)


def _find_chosen_project(invocation: Invocation) -> ProjectId | None:
    return invocation.project.id if invocation.project else None


async def _ask(context: Context, invocation: Invocation, match: re.Match[str]) -> Answer:
    """Show visitors, or run the word of any command that people mean: "my jobs"."""
    try:
        query = parse_query(match[1], context.today())
    except Misunderstood:
        if _LETTER_PATTERN.search(match[1]) is None:
            raise  # a mistyped period
        answer = await run_other_word(context, invocation)
        if answer is None:
            raise
        return answer
    return Answer(
        message=await ask_visitors(
            context, invocation.allowed, query, _find_chosen_project(invocation)
        )
    )


async def _ask_gaps(context: Context, invocation: Invocation, match: re.Match[str]) -> Answer:
    query = parse_query(match[2], context.today(), ReportType(match[1].lower()))
    return Answer(
        message=await ask_visitors(
            context, invocation.allowed, query, _find_chosen_project(invocation)
        )
    )


async def _ideas(context: Context, press: Press) -> Answer:
    return await _show_unanswered_searches(context, press.allowed, None)


async def _show_ideas(context: Context, invocation: Invocation, _match: re.Match[str]) -> Answer:
    return await _show_unanswered_searches(
        context, invocation.allowed, _find_chosen_project(invocation)
    )


async def _show_unanswered_searches(
    context: Context, allowed: Allowed, project: ProjectId | None
) -> Answer:
    """Show readers' searches without a result."""
    query = parse_query("", context.today(), ReportType.SEARCHES)
    return Answer(message=await ask_visitors(context, allowed, query, project))


async def _subscribe(context: Context, invocation: Invocation, match: re.Match[str]) -> Answer:
    request = parse_weekly(match[1])
    return Answer(
        message=await subscribe(
            context, invocation.allowed, request, _find_chosen_project(invocation)
        )
    )


async def _change(context: Context, invocation: Invocation, match: re.Match[str]) -> Answer:
    """Run ``pause``, ``resume`` or ``unsubscribe``, each with ``path /api`` after it or alone."""
    change = SubscriptionChange(match[1].lower())
    section = parse_section(match[2])
    message = await change_subscriptions(
        context,
        invocation.allowed,
        change,
        section=section,
        project=_find_chosen_project(invocation),
    )
    return Answer(message=message)


async def _list_subscriptions(
    context: Context, invocation: Invocation, _match: re.Match[str]
) -> Answer:
    return Answer(message=await list_subscriptions(context, invocation.origin.channel))


def _parse_digest(text: str) -> str | None:
    return parse_section(" ".join(word for word in text.split() if word.lower() != "now"))


async def _send_digest_now(
    context: Context, invocation: Invocation, match: re.Match[str]
) -> Answer:
    """Run ``digest now [path /api]``."""
    section = _parse_digest(match[1])
    return Answer(
        message=await digest_now(
            context, invocation.allowed, section or None, _find_chosen_project(invocation)
        )
    )


def _make_answer_handler(
    act: Act[Message | None], *, writes: bool = False
) -> Callable[[Context, Press], Awaitable[Answer]]:
    async def press(context: Context, press: Press) -> Answer:
        number = QuestionId(number_in(press.value))
        return Answer(message=await with_answer(context, press.allowed, number, act, writes=writes))

    return press


async def _show_more_ideas(context: Context, press: Press) -> Answer:
    """Open the view with the recommendations for which a digest had no room."""
    private = FormState.at(press.origin).dumps()

    def view(
        context: Context, tx: Transaction, _allowed: Allowed, question: Question, numbers: Numbers
    ) -> Block | Message:
        ideas = list_more(context, tx, question, numbers)
        return digest_messages.ideas_view(ideas, question.id, private=private)

    opened = await with_answer(context, press.allowed, QuestionId(number_in(press.value)), view)
    return Answer(message=opened) if isinstance(opened, Message) else Answer(modal=opened)


async def _improve(context: Context, press: Press) -> Answer:
    """Open the form with a prompt about a content gap or a page.

    The value: the question and the row.
    """
    named, _, key = press.value.partition(":")
    find = partial(_find_row, key=key)
    row = await with_answer(context, press.allowed, QuestionId(number_in(named)), find)
    if isinstance(row, Message):
        return Answer(message=row)
    text, project, reference = row
    channel = press.origin.channel
    state = replace(FormState.at(press.origin), gap=(reference.key, reference.title))
    offered = await projects_to_choose(context, channel, context.projects.with_id(project))
    duplicate = await find_open_job(context, channel, project, reference.title)
    notes = (
        [forms.job_note(duplicate, status_message_link(context, duplicate))] if duplicate else []
    )
    if await context.store.read(lambda tx: Jobs(tx).publishes_unreviewed(project)):
        notes.append(forms.review_note())
    form = forms.ask_form(
        channel=channel, private=state.dumps(), text=text, projects=offered, notes=notes
    )
    return Answer(modal=form)


def _find_row(
    context: Context,
    tx: Transaction,
    _allowed: Allowed,
    question: Question,
    numbers: Numbers,
    key: str,
) -> tuple[str, ProjectId, GapRef] | Message:
    """Return the prompt about a row, its project and its reference; a message if it is not kept."""
    if question.kind is QuestionKind.DIGEST:
        items = list_recommendations(context, tx, question, numbers)
        rows = [(each, item.title, item.prompt) for item in items for each in item.keys]
    else:
        table = gap_table(numbers) if question.query.report_type.is_gaps else ()
        rows = [(row.key, row.title, gap_prompt(question.query, row)) for row in table]
    now = numbers.visitors(question.query.period)
    for path, counts in ((now and now.pages) or {}).items():
        if page_row_key(path) == key:
            rows.append((key, path, prompts.improve_prompt(path, counts, question.query.period)))
    for row_key, title, prompt in rows:
        if row_key == key:
            return prompt, question.project, row_reference(key, title)
    return answer_messages.NOT_KEPT


_FAR_AHEAD = date(2200, 1, 1)
"""No period is in the future then."""


def _taken_by(parse: Callable[[str], object]) -> Callable[[str], bool]:
    """Return a function that returns whether ``parse`` takes a text."""

    def takes(text: str) -> bool:
        rest = " ".join(word for word in text.split() if not word.lower().startswith("project:"))
        try:
            parse(rest)
        except Misunderstood as why:
            return isinstance(why.__cause__, BadPeriod) and not isinstance(
                why.__cause__, UnknownPeriod
            )
        return True

    return takes


def _make_gap_word(report_type: ReportType, tells: str) -> Word:
    """Return the word about a report type of content gaps."""
    shape = rf"(?:visitors\s+)?({report_type})(?!\S)(.*)"

    def takes(text: str) -> bool:
        rest = " ".join(word for word in text.split() if word.lower() != report_type)
        return _taken_by(lambda options: parse_query(options, _FAR_AHEAD, report_type))(rest)

    return Word(
        str(report_type),
        shape,
        tells,
        _ask_gaps,
        example=f"{report_type} last month",
        accepts=takes,
    )


COMMAND = Command(
    name=NAME,
    summary="Who reads the docs, people and AI; and a weekly digest of it",
    fallback_word=Word(
        usage="last month path /api csv",
        shape=r"(?:visitors(?!\S)\s*)?(.*)",
        help_text="Shows who read a section in a period of your choice, with a file.",
        run=_ask,
        hint="last week",
        after_mention=r"visitors(?!\S).*",
        head="visitors",
        accepts=_taken_by(lambda text: parse_query(text, _FAR_AHEAD)),
        is_in_help=True,
    ),
    bare_word=Word(
        "",
        "()",
        "Shows who read the docs in the last seven full days.",
        _ask,
        after_mention=None,
        is_in_help=True,
    ),
    words=(
        _make_gap_word(ReportType.SEARCHES, "Shows what readers searched and didn't find."),
        _make_gap_word(ReportType.FEEDBACK, "Shows pages by readers' votes, with their comments."),
        _make_gap_word(ReportType.QUESTIONS, "Shows what the docs' assistant couldn't answer."),
        Word("ideas", "ideas", "Shows what needs work in the docs.", _show_ideas),
        Word(
            usage="subscribe monday 09:00",
            shape=r"subscribe(?!\S)(.*)",
            help_text="Posts a digest here every week.",
            run=_subscribe,
            example="subscribe monday 09:00 Europe/Berlin",
            is_in_help=True,
            accepts=_taken_by(parse_weekly),
        ),
        Word(
            usage="subscriptions",
            shape=r"subscriptions(?!\S).*",
            help_text="Lists the subscriptions here and their next runs.",
            run=_list_subscriptions,
            after_mention="subscriptions",
            is_in_help=True,
        ),
        *(
            Word(
                str(change),
                rf"({change})(?!\S)(.*)",
                tells,
                _change,
                accepts=_taken_by(parse_section),
            )
            for change, tells in (
                (SubscriptionChange.PAUSE, "Pauses the digests here."),
                (SubscriptionChange.RESUME, "Starts them again."),
                (SubscriptionChange.UNSUBSCRIBE, "Ends them."),
            )
        ),
        Word(
            "digest now",
            r"digest(?!\S)(.*)",
            "Posts the digest of the last full week now.",
            _send_digest_now,
            is_in_help=True,
            accepts=_taken_by(_parse_digest),
        ),
    ),
    take_project=_take_project,
    misunderstood=_answer_misunderstood,
    help_note=lambda _place: usage.period_help(),
    full_help=usage.FULL_HELP,
    has_options_only=True,
    labels=(ButtonLabel("What needs work?", "ideas"),),
    buttons={
        Action.SHARE: _make_answer_handler(share_numbers, writes=True),
        Action.CSV_FILE: _make_answer_handler(send_csv, writes=True),
        Action.MORE: _make_answer_handler(show_further_rows),
        Action.ALL_NUMBERS: _make_answer_handler(post_all_numbers, writes=True),
        Action.IDEAS: _show_more_ideas,
        Action.SEE_REVIEWS: see_page,
        Action.RUN_VISITORS: _run_corrected,
        Action.HELLO_IDEAS: _ideas,
        Action.IMPROVE: _improve,
        Action.IMPROVE_PAGE: _improve,
        Action.IMPROVE_MISS: _improve,
    },
)
