"""The projects that one bot serves, and their names."""

from __future__ import annotations

import re
from dataclasses import dataclass

from bot.ids import ProjectId

_SENTENCE_STOPS = ",;:.!"
"""Signs after a name that belong to the sentence."""
_OPTION_PATTERN = re.compile(rf"`?project:([^\s`]+)`?[{_SENTENCE_STOPS}]*", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Project:
    """A project that the bot serves."""

    id: ProjectId
    name: str
    """The name that people type."""
    label: str
    """The name that people read."""
    counted_with: ProjectId | None = None
    """The project under which its calls of the analytics API are counted, if not its own."""


class UnknownProject(Exception):
    """A text names a project that the bot does not serve.

    ``text``: the text after the name.
    """

    def __init__(self, name: str, text: str) -> None:
        super().__init__(name)
        self.name = name
        self.text = text


def with_project(project: Project | None, text: str) -> str:
    """Return a text that begins with its project, for ``Projects.take``."""
    return f"project:{project.name} {text}" if project else text


@dataclass(frozen=True, slots=True)
class Projects:
    """The projects that the bot serves, the default first.

    A single project is neither named nor shown.
    """

    known: tuple[Project, ...]
    serves_former: bool = False
    """Whether the key is also used for projects of earlier settings."""

    @classmethod
    def only(cls, project: ProjectId) -> Projects:
        """Return the single project of DOCS_PROJECT_ID, which is named by its id."""
        return cls((Project(project, project, project),), serves_former=True)

    @property
    def default(self) -> Project:
        """The project of channels that have chosen none."""
        return self.known[0]

    @property
    def are_several(self) -> bool:
        """Whether a project has to be named and shown."""
        return len(self.known) > 1

    def with_id(self, project: ProjectId) -> Project | None:
        """Return the project with this id; None if none is served."""
        for candidate in self.known:
            if candidate.id == project:
                return candidate
        return None

    def can_serve(self, project: ProjectId) -> bool:
        """Return whether the bot has a key for calls about a project."""
        return self.serves_former or self.with_id(project) is not None

    def shown(self, project: ProjectId) -> Project | None:
        """Return the project if messages have to name it; None otherwise.

        A project that is no longer served has its id as its name.
        """
        if not self.can_serve(project):
            return Project(project, project, project)
        return self.with_id(project) if self.are_several else None

    def budget_of(self, project: ProjectId) -> ProjectId:
        """Return the project under which a project's analytics calls count.

        It is one for all projects with one key.
        """
        served = self.with_id(project)
        if served is None and self.serves_former:
            served = self.default
        if served is None:
            return project
        return served.counted_with or served.id

    def entry(self, project: ProjectId) -> Project | None:
        """Return the project's entry in DOCS_PROJECTS; None without one."""
        return None if self.serves_former else self.with_id(project)

    def named(self, name: str, text: str = "") -> Project:
        """Return the project with this name.

        Raises UnknownProject, with the text that goes with the name.
        """
        bare = name.rstrip(_SENTENCE_STOPS)
        for project in self.known:
            if project.name == bare.lower():
                return project
        raise UnknownProject(bare or name, text)

    def take(self, text: str) -> tuple[str, Project | None]:
        """Return a text without its project, and that project.

        The project is named at the start of the text, or else at its end. Where there is one
        project the words are text like any other. Raises UnknownProject.
        """
        if not self.are_several or not text.strip():
            return text, None
        first, *after_first = text.split(maxsplit=1)
        option = _OPTION_PATTERN.fullmatch(first)
        if option is not None:
            rest = "".join(after_first)
            return rest, self.named(option[1], rest)
        *before_last, last = text.rsplit(maxsplit=1)
        option = _OPTION_PATTERN.fullmatch(last)
        if option is not None:
            rest = "".join(before_last)
            return rest, self.named(option[1], rest)
        return text, None

    def take_any(self, text: str) -> tuple[str, Project | None]:
        """Return a text of options without its project, and that project.

        The first project that is named counts. Raises UnknownProject.
        """
        parts = text.split() if self.are_several else []
        for place, word in enumerate(parts):
            option = _OPTION_PATTERN.fullmatch(word)
            if option is not None:
                rest = " ".join([*parts[:place], *parts[place + 1 :]])
                return rest, self.named(option[1], rest)
        return text, None
