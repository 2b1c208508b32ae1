"""Messages about the projects of a bot that serves several."""

from __future__ import annotations

from bot.messages import blocks as b
from bot.messages.job_answers import with_prompt
from bot.model.message import Message
from bot.model.projects import Project, Projects

NOT_SERVED = "These docs are no longer set up here. Close this and try again."


def listed(projects: Projects) -> str:
    """Return the projects with the names that people type, in mrkdwn."""
    return ", ".join(
        b.code(each.name) + (f" ({b.label(each.label)})" if each.label != each.name else "")
        for each in projects.known
    )


def naming(projects: Projects) -> str:
    """Return the paragraph of the help about naming a project, in mrkdwn."""
    name = projects.known[-1].name
    return (
        f"*Which docs*: {b.code(f'project:{name}')} at the start or the end of what you ask, or among the "
        f"options, is for those docs. {b.code(f'/docs-agent project {name}')} makes them this channel's. "
        f"I know {listed(projects)}."
    )


def project_here(project: Project, projects: Projects) -> Message:
    """Return which project a channel's requests are for, and how to choose another."""
    if not projects.are_several:
        return b.words("There is one docs project here, so there is nothing to choose.")
    other = next(each.name for each in projects.known if each != project)
    return b.words(
        f"Here I work on *{b.label(project.label)}*. I know {listed(projects)}.\n"
        f"{b.code(f'project:{other}')} at the start or the end of what you ask is for that alone. "
        f"{b.code(f'/docs-agent project {other}')} changes it for this channel."
    )


def chosen(project: Project) -> Message:
    """Return the confirmation that a channel has chosen a project."""
    return b.words(
        f":white_check_mark: From now on, what you ask here is for *{b.label(project.label)}*. "
        "Earlier jobs and digests stay with their project."
    )


def may_not_choose(project: Project) -> Message:
    """Return the refusal to choose a channel's project."""
    return b.words(
        ":no_entry: Only an admin of this bot chooses a channel's project. "
        f"Begin what you ask with {b.code(f'project:{project.name}')} instead. That works for everybody."
    )


def unknown_choice(name: str, projects: Projects) -> Message:
    """Return the answer to the choice of a project that there is not."""
    return b.words(
        f":no_entry: I don't know the project “{b.label(name)}”, so nothing was changed. "
        f"I know {listed(projects)}."
    )


def unknown_in_options(name: str, projects: Projects) -> str:
    """Return why options cannot be understood that name a project that there is not, in mrkdwn."""
    return f"I don't know the project “{b.label(name)}”. I know {listed(projects)}."


def unknown_project(name: str, projects: Projects, prompt: str) -> Message:
    """Return the answer to a prompt for a project that there is not. The prompt is quoted to copy."""
    first = b.code(f"project:{projects.default.name}")
    said = (
        f":no_entry: I don't know the project “{b.label(name)}”, so nothing was started. "
        f"I know {listed(projects)}. Begin with {first} or another one."
    )
    return with_prompt(b.words(said), prompt)
