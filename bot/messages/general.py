"""General answers: projects, a channel's choices, and trials."""

from __future__ import annotations

from bot.ids import Block, ChannelId, Message
from bot.messages import blocks as b
from bot.projects import Project, Projects

EXAMPLE = "Add a quickstart for the Python SDK"
"""A prompt as somebody may write it."""
QUESTION_EXAMPLE = "How do I rotate an API key?"
"""A question as somebody may ask it."""


def list_projects(projects: Projects) -> str:
    """Return the projects with the names that people type, in mrkdwn."""
    names = []
    for project in projects.known:
        name = b.code(project.name)
        if project.label != project.name:
            name += f" ({b.label(project.label)})"
        names.append(name)
    return ", ".join(names)


def naming(projects: Projects) -> str:
    """Return the paragraph of the help about naming a project, in mrkdwn."""
    name = projects.known[-1].name
    return (
        f"*Which docs*: {b.code(f'project:{name}')} at the start or the end of what you ask, "
        "or among the options, is for those docs. "
        f"{b.code(f'/docs-agent project {name}')} makes them this channel's. "
        f"I know {list_projects(projects)}."
    )


def project_here(project: Project, projects: Projects) -> Message:
    """Return a channel's project, and the way to choose another."""
    if not projects.are_several:
        return b.words(f"These prompts go to *{b.label(project.label)}*.")
    other = next(candidate.name for candidate in projects.known if candidate != project)
    return b.words(
        f"Here I work on *{b.label(project.label)}*. I know {list_projects(projects)}.\n"
        f"{b.code(f'project:{other}')} at the start or the end of what you ask is for that alone. "
        f"{b.code(f'/docs-agent project {other}')} changes it for this channel."
    )


def chosen(project: Project) -> Message:
    """Return the confirmation that a channel has chosen a project."""
    return b.words(
        f":white_check_mark: From now on, what you ask here is for *{b.label(project.label)}*. "
        "Earlier jobs and digests stay with their project."
    )


def may_not_choose(project: Project, channel: ChannelId) -> Message:
    """Return the refusal to choose a channel's project."""
    return b.words(
        f":no_entry: Only an admin of this bot chooses the project of {b.channel(channel)}. "
        f"Begin what you ask with {b.code(f'project:{project.name}')} instead. "
        "That works for everybody."
    )


def replies_setting(*, is_mention_only: bool) -> Message:
    """Return which replies steer the channel's jobs, and the other choice."""
    if is_mention_only:
        return b.words(
            "Here only replies that mention me are follow-ups. "
            "`/docs-agent replies on` takes every reply in a job's thread."
        )
    return b.words(
        "Here every reply in a job's thread is a follow-up. "
        "`/docs-agent replies off` takes only those that mention me."
    )


def replies_chosen(*, is_mention_only: bool) -> Message:
    """Return the confirmation of which replies steer a channel's jobs."""
    which = "only replies that mention me" if is_mention_only else "all replies in a job's thread"
    return b.words(f":white_check_mark: From now on, {which} are follow-ups in this channel.")


REPLIES_IN_DIRECT = b.words(
    "In direct messages every reply is for me, so there is nothing to choose."
)
"""The refusal to choose the replies that count in direct messages."""


def unknown_choice(name: str, projects: Projects) -> Message:
    """Return the answer to the choice of an unknown project."""
    return b.words(
        f":no_entry: I don't know the project “{b.label(name)}”, so nothing was changed. "
        f"I know {list_projects(projects)}."
    )


def unknown_in_options(name: str, projects: Projects) -> str:
    """Return the error of options with an unknown project, in mrkdwn."""
    return f"I don't know the project “{b.label(name)}”. I know {list_projects(projects)}."


def unknown_project(name: str, projects: Projects, prompt: str) -> Message:
    """Return the answer to a prompt for an unknown project.

    The prompt is quoted to copy.
    """
    first = b.code(f"project:{projects.default.name}")
    text = (
        f":no_entry: I don't know the project “{b.label(name)}”, so nothing was started. "
        f"I know {list_projects(projects)}. Begin with {first} or another one."
    )
    return b.with_prompt(b.words(text), prompt)


def too_long(most: int) -> Message:
    """Return the answer to a text that is longer than Slack lets a message be."""
    return b.words(
        f":no_entry: That is longer than {most:,} characters, so I took nothing. "
        "Send the main part, and the rest as text files."
    )


FIRST_POST = b.words(
    ":warning: Your bot admin tries what I can do here (`docs-bot doctor --try`). "
    "The messages in this thread are made up, and I delete them at the end."
)
"""The post in whose thread the other messages are."""


EDITED_POST = b.words(":warning: Your bot admin has tried what I can do here.")
"""The first post after its edit."""


PRIVATE_POST = b.words("`docs-bot doctor --try` tries whether I can reach you in private.")
"""The message for one person."""


def press_request(token: str) -> Message:
    """Return the doctor's post that asks a person to press a button."""
    return b.with_buttons("Press this, please.", [b.button("Press me", b.Action.TRY, token)])


DIRECT_POST = b.words(
    "Your bot admin tries whether I can reach you here (`docs-bot doctor --try`). I delete this at "
    "the end."
)
"""The direct message of the doctor."""


FILE_POST = "A made-up file of `docs-bot doctor --try`, which I delete at the end."
"""The text beside the file of the doctor."""


NOTED = b.words(":white_check_mark: I heard it.")
"""The answer to a command with the token of a trial."""


TRIAL_OVER = b.words(
    "That is the token of a trial (`docs-bot doctor --try`) that is over or somebody else's, so I "
    "did nothing. Your bot admin can start a new one."
)
"""The answer to a token that is not valid."""


TRIAL_FORM = "trial"
"""The callback id of the doctor's form."""


def trial_form(token: str, *, is_changed: bool) -> Block:
    """Return the form of the doctor's, which its button opens and which is changed once."""
    text = "A moment: this text changes."
    if is_changed:
        text = "This form was changed. Press *Next window*, please."
    further = b.actions([b.button("Next window", b.Action.TRY_FURTHER, token)])
    return b.modal(
        "Docs agent", *b.text_blocks(text), *further, callback_id=TRIAL_FORM, private=token
    )


def further_trial_form(token: str) -> Block:
    """Return the form above the doctor's form."""
    text = "Press *Submit*, please. Nothing is sent anywhere."
    return b.modal(
        "Docs agent",
        *b.text_blocks(text),
        callback_id=TRIAL_FORM,
        private=token,
        submit="Submit",
    )
