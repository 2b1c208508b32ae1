"""Answers to texts that are not sent to the agent: questions back, and words about a job."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

from bot.ids import Block, Message
from bot.jobs.messages.status_message import (
    build_view_button,
    file_names,
    format_link_label,
    format_state,
    format_working_time,
    name,
    run_again_button,
    wait_lines,
)
from bot.jobs.model.jobs import JobState, TrackedJob, Wait
from bot.jobs.model.prompts import UnsentText
from bot.messages import blocks as b
from bot.messages.blocks import MAX_COPIED_CHARACTERS
from bot.messages.plain_text import one_line, visible

_MAX_TITLE_CHARACTERS = 80


# ---- a text that is asked back


WHAT_SHOULD_CHANGE = b.words("What should change? Reply with what it should say.")
"""The answer to a no in a job's thread."""
WHAT_IS_WRONG = b.words("What should change? Name the page, and what it should say.")
"""The answer to a no elsewhere."""


def _keep_buttons_that_fit(draft: UnsentText, buttons: Sequence[Block]) -> Sequence[Block]:
    """Return the buttons whose values contain a text; none if it is too long for a button."""
    return buttons if len(draft.raw) <= UnsentText.LONGEST else ()


def ask_what_to_do(draft: UnsentText, *, can_answer: bool, is_understood: bool = True) -> Message:
    """Return the question about a text that may ask for a change or for an answer.

    Args:
        draft: The text.
        can_answer: The bot answers questions.
        is_understood: The text is in a language that the bot understands.
    """
    text = "What should I do?"
    if not is_understood:
        text = f"{_OTHER_LANGUAGE} {text}"
    return b.with_buttons(text, build_choice_buttons(draft, can_answer=can_answer))


def build_choice_buttons(draft: UnsentText, *, can_answer: bool) -> Sequence[Block]:
    """Return the buttons that take a text as a change or as a question."""
    buttons = [b.button("Change the docs", b.Action.CHANGE_IT, draft.dumps())]
    if can_answer:
        buttons.append(b.button("Answer it", b.Action.ANSWER_IT, draft.dumps()))
    return _keep_buttons_that_fit(draft, buttons)


_OTHER_LANGUAGE = "I don't understand that language."


def ask_whether_to_send(draft: UnsentText, *, is_understood: bool = True) -> Message:
    """Return the question about a reply that may be for the agent."""
    buttons = [
        b.button("Send it to the agent", b.Action.SEND_ANYWAY, draft.dumps()),
        b.button("Leave it", b.Action.LEAVE_IT, "1"),
    ]
    text = "Shall I send that to the agent?"
    if not is_understood:
        text = f"{_OTHER_LANGUAGE} {text}"
    return b.with_buttons(text, _keep_buttons_that_fit(draft, buttons))


NOTHING_SENT = b.words("Left. Nothing was sent.")
"""The text in the place of a question, after *Leave it*."""


def ask_about_thread(draft: UnsentText, *, can_answer: bool) -> Message:
    """Return the question about a call in people's thread that asks for nothing."""
    buttons = [b.button("Write this thread up", b.Action.WRITE_THREAD, draft.dumps())]
    if can_answer:
        buttons.append(b.button("Answer it", b.Action.ANSWER_THREAD, draft.dumps()))
    return b.with_buttons("What should I do with this thread?", buttons)


WRITE_UP = "Write up what this thread says, on the page where readers look for it."
"""The prompt of *Write this thread up*."""
NO_MESSAGES = b.words("There is nothing in this thread that I could answer.")
"""The answer to *Answer it* in a thread without words of people."""


_MAX_TYPED = 300
"""Longest word with its options in a button."""


def did_you_mean(typed: str, command: str) -> Message:
    """Return the question about a word that is almost one of the bot's own."""
    shown = one_line(typed, _MAX_TYPED)
    return b.with_buttons(f"Did you mean {b.code(shown)}?", [_build_word_button(shown, command)])


def ask_which_command(typed: str, commands: Sequence[str]) -> Message:
    """Return the question about a word that several commands have."""
    blocks = [b.section("Which one?")]
    for command in commands:
        blocks += b.actions([_build_word_button(f"{command} {typed}", command, typed)])
    return b.message(*blocks)


def _build_word_button(label: str, command: str, typed: str = "") -> Block:
    shown = one_line(label, b.MAX_BUTTON_CHARACTERS)
    value = one_line(typed or label, _MAX_TYPED)
    return b.button(shown, b.Action.RUN_WORD, f"{command}|{value}")


# ---- questions


READING_DOCS = b.words(":eyes: Reading the docs…")
"""The immediate reply to a question whose answer only its author sees."""
ALSO_READING_DOCS = b.words(
    ":eyes: Reading the docs… The agent has its task already, and nobody can stop it."
)
"""The reply where the text has started a job that runs."""


def cannot_answer(draft: UnsentText) -> Message:
    """Return the answer to a question where the bot answers none."""
    buttons = [b.button("Draft a page on it", b.Action.DRAFT_PAGE, draft.dumps())]
    return b.with_buttons("I can't answer here.", _keep_buttons_that_fit(draft, buttons))


def changes_button(job: TrackedJob) -> Block:
    """Return the button that shows a job's changed words."""
    return b.button("Changes", b.Action.CHANGES, str(job.number))


def no_reasons(job: TrackedJob) -> Message:
    """Return the answer to a question for the agent's reasons."""
    if job.pull_request is None:
        return b.words("The agent gives no reasons. What should change?")
    text = "The agent gives no reasons; *Changes* shows what it did. What should change?"
    return b.with_buttons(text, [changes_button(job)])


# ---- a job that its author can take back


def taken_as_change(draft: UnsentText, *, can_answer: bool, is_held: bool) -> Message | None:
    """Return the note to the author of a text that started a job and is only likely a change.

    Returns None if the note would have no button.

    Args:
        draft: The text.
        can_answer: The bot answers questions.
        is_held: It waits a few seconds before it is sent.
    """
    buttons = []
    if can_answer:
        buttons.append(b.button("Just answer it", b.Action.JUST_ANSWER, draft.dumps()))
    if is_held:
        buttons.append(b.button("Don't", b.Action.DONT, draft.dumps()))
    shown = _keep_buttons_that_fit(draft, buttons)
    return b.with_buttons("I took that as a change for the docs.", shown) if shown else None


NOT_STARTED = b.words("Okay, nothing was sent.")
"""The text in the place of that note once its author has taken the job back."""


def private_thread_stays(draft: UnsentText) -> Message:
    """Return the question before a prompt in a private channel's thread, which does not go along.

    A pull request may be public.
    """
    buttons = [
        b.button("Choose messages", b.Action.WRITE_THREAD, draft.dumps()),
        b.button("Start without them", b.Action.SEND_ANYWAY, draft.dumps()),
    ]
    return b.with_buttons("I don't take a private thread along.", buttons)


def thread_stays_here(job: TrackedJob) -> Message:
    """Return the note that a private channel's thread does not go to the agent."""
    text = "This channel is private, so the thread's earlier messages stay here."
    return b.with_buttons(text, [_choose_button(job)])


def readers_words_stay_here(job: TrackedJob) -> Message:
    """Return the note that readers' words do not go to an agent that may publish by itself."""
    text = (
        "Jobs of these docs end without a pull request, so a change may go live unreviewed. "
        "Readers' words stay here until you send them."
    )
    return b.with_buttons(text, [_choose_button(job)])


def _choose_button(job: TrackedJob) -> Block:
    return b.button("Choose messages", b.Action.CHOOSE_MESSAGES, str(job.number))


MESSAGES_GO_ALONG = "These earlier messages are what it is about."
"""The follow-up with messages that their author chose after the job was sent."""


def merged_before(job: TrackedJob) -> Message:
    """Return the reply about a change in the thread of a job whose pull request is merged."""
    url = b.web_address(job.pr_link)
    subject = b.link(url, format_link_label(url, "PR")) if url else "It"
    return b.words(f"{subject} is merged, so this is a new job.")


# ---- questions before a use is spent


def page_is_taken(job: TrackedJob, permalink: str | None, draft: UnsentText) -> Message:
    """Return the question before a prompt about a page that ``job`` changes."""
    return _ask_where(job, permalink, draft, "changes this page")


def subject_is_taken(job: TrackedJob, permalink: str | None, draft: UnsentText) -> Message:
    """Return the question before a prompt for something new that ``job`` writes already."""
    return _ask_where(job, permalink, draft, "is about this already")


def _ask_where(job: TrackedJob, permalink: str | None, draft: UnsentText, doing: str) -> Message:
    """Return the question whether a prompt goes to another job. ``doing``: the other job's work."""
    since = b.moment(job.asked_at, "{date_short_pretty}")
    whose = (
        f"{b.link(permalink, name(job.number))} ({b.mention(job.requester)}, open since {since})"
    )
    reply = replace(draft, job=job.number).dumps()
    to_job = b.button(f"Send it to {name(job.number)}", b.Action.SEND_TO_JOB, reply)
    anew = b.button("Start a new one", b.Action.SEND_ANYWAY, draft.dumps())
    return b.with_buttons(f"{whose} {doing}. Reply there, or start a new one.", [to_job, anew])


def files_cannot_go(files: Sequence[str], draft: UnsentText) -> Message:
    """Return the question before a prompt whose files cannot be sent."""
    start = b.button("Start without it", b.Action.SEND_ANYWAY, draft.dumps())
    cancel = b.button("Cancel", b.Action.CANCEL, "1")
    return b.with_buttons(f"I can't send {file_names(files)}.", [start, cancel])


CANCELLED = b.words("Nothing was started.")
"""The text in the place of a question that was cancelled."""


def key_found(draft: UnsentText | None, text: str = "") -> Message:
    """Return the answer to a prompt with a key in it.

    ``text``: the person's text, to copy, if Slack hides it.
    """
    note = "There is a key or a password in it, so I didn't send it. Take it out and try again."
    steps: list[Block] = []
    if draft:
        steps.append(b.button("Send it anyway", b.Action.SEND_WITH_KEY, draft.dumps()))
    else:
        note += " If it is made up, write “example” into it."
    parts = list(b.split(visible(text).strip(), MAX_COPIED_CHARACTERS))
    quotes = map(b.quote, parts[:1])
    return b.message(b.section(note), *quotes, *b.actions(steps))


SENT = b.words("Sent to the agent.")
"""The text in the place of a question once its text was sent to the agent."""


# ---- the bot's own words about a job


YOU_ARE_WELCOME = b.words(":+1:")
"""The answer to thanks by a command, which leaves no message to react to."""
NO_JOB_HERE = b.words("You have no job here yet. Tell me what to change, and I'll start one.")
"""The answer to a word about a job, from somebody without one in this channel."""


def reviewed(job: TrackedJob) -> Message:
    """Return the answer to "merged" by a command. The job's status message shows the rest."""
    return b.words(f":+1: {name(job.number)}: {format_state(job)}")


TAKEN_BACK = b.words("Taken back: nothing was sent.")
"""The answer to ``stop`` about a request that was not sent."""


def cannot_stop(job: TrackedJob, *, may_steer: bool) -> Message:
    """Return the answer to ``stop`` about a job of which its reader may take nothing back.

    ``may_steer``: they may decide about the job.
    """
    title = name(job.number)
    if job.state is JobState.WAITING:
        return b.words(f"{title} hasn't started yet. {b.mention(job.requester)} can take it back.")
    if job.state is JobState.WORKING:
        quiet = b.button("Keep quiet about it", b.Action.KEEP_QUIET, str(job.number))
        text = f"The agent has {title} already, and nobody can stop it."
        return b.with_buttons(text, [quiet] if may_steer else [])
    if job.state is JobState.UNCONFIRMED:
        return b.words(f"The agent may have {title} already. *Dismiss* in its thread leaves it.")
    close = " Close its pull request there:" if build_view_button(job) else ""
    return b.with_buttons(
        f"{title} is over, so there is nothing to stop.{close}", build_view_button(job)
    )


def not_failed(job: TrackedJob) -> Message:
    """Return the answer to ``retry`` about a job that has not failed."""
    return b.with_buttons(f"{name(job.number)} hasn't failed.", [run_again_button(job)])


def cannot_merge(job: TrackedJob) -> Message:
    """Return the answer to ``merge it`` and ``close the PR``."""
    if not build_view_button(job):
        return b.words(f"{name(job.number)} has no pull request that I could link to.")
    return b.with_buttons("I can't merge or close it from here:", build_view_button(job))


def _format_failing_polls(job: TrackedJob) -> Sequence[str]:
    """Return since when polls of a job fail; nothing while they are answered."""
    if job.poll_failing_since is None:
        return ()
    since = b.moment(job.poll_failing_since, "{time}")
    return [f"the docs service hasn't answered about it since {since}"]


def status_line(
    job: TrackedJob,
    waiting: Sequence[Wait],
    usual: timedelta | None = None,
) -> Message:
    """Return a job's status in one line.

    Args:
        job: The job.
        waiting: Its pending work.
        usual: The usual time of the project's jobs; None if unknown.
    """
    url = b.web_address(job.pr_link)
    title = b.quoted(
        job.pull_request.title if job.pull_request else job.text, _MAX_TITLE_CHARACTERS
    )
    sign, _, state = format_state(job).partition(" ")
    link = f" · {b.link(url, format_link_label(url, 'PR'))}" if url else ""
    facts = [f"{sign} *{title}*{link} · {state.replace('*', '')}"]
    if job.state is JobState.WORKING:
        facts.append(format_working_time(job, usual))
    elif job.ended_at:
        facts.append(f"since {b.moment(job.ended_at, '{time}')}")
    facts += _format_failing_polls(job) or wait_lines(waiting)
    text = ", ".join(filter(None, facts))
    if job.is_merged:
        text += ". Whether it is live, I can't see."
    elif job.awaits_review:
        text += f". Reminders of its review go to {b.mention(job.recipient)}."
    details = b.button("Details", b.Action.DETAILS, str(job.number))
    return b.message({**b.section(text), "accessory": details})


CANNOT_SEE = b.words("I can't see that.")
"""The answer to a question about a job that is forgotten."""
