"""The projects of the docs service that one bot serves, and how people name them."""

from __future__ import annotations

import re
from dataclasses import dataclass

from bot.ids import ProjectId

_STOPS = ",;:.!"
"""Signs after a name that belong to the sentence."""
_OPTION = re.compile(rf"`?project:([^\s`]+)`?[{_STOPS}]*", re.IGNORECASE)


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
    """A text names a project that the bot does not serve. ``text`` is the rest of it."""

    def __init__(self, name: str, text: str) -> None:
        super().__init__(name)
        self.name = name
        self.text = text


def with_project(project: Project | None, text: str) -> str:
    """Return a text that names its project at the start, as ``Projects.take`` reads it."""
    return f"project:{project.name} {text}" if project else text


@dataclass(frozen=True, slots=True)
class Projects:
    """The projects that the bot serves, the default first. A single project is neither named nor shown."""

    known: tuple[Project, ...]
    serves_former: bool = False
    """Whether the one key is also used for projects that were set up before."""

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
        """Return the project with this id; None if it is no longer served."""
        return next((one for one in self.known if one.id == project), None)

    def serve(self, project: ProjectId) -> bool:
        """Return whether the bot has a key for calls about a project."""
        return self.serves_former or self.with_id(project) is not None

    def shown(self, project: ProjectId) -> Project | None:
        """Return the project if messages have to name it; a project no longer served has its id as name."""
        if not self.serve(project):
            return Project(project, project, project)
        return self.with_id(project) if self.are_several else None

    def budget_of(self, project: ProjectId) -> ProjectId:
        """Return the project that stands for the analytics budget of a project: one for all with one key."""
        served = self.with_id(project) or (self.default if self.serves_former else None)
        return project if served is None else served.counted_with or served.id

    def entry(self, project: ProjectId) -> Project | None:
        """Return the project as DOCS_PROJECTS has it; None if that is not set or has no such project."""
        return None if self.serves_former else self.with_id(project)

    def named(self, name: str, text: str = "") -> Project:
        """Return the project with this name. Raises UnknownProject, with the text that goes with the name."""
        bare = name.rstrip(_STOPS)
        project = next((one for one in self.known if one.name == bare.lower()), None)
        if project is None:
            raise UnknownProject(bare or name, text)
        return project

    def take(self, text: str) -> tuple[str, Project | None]:
        """Return a text without the project named at its start or else at its end, and that project.

        Where there is one project the words are text like any other. Raises UnknownProject.
        """
        if not self.are_several:
            return text, None
        first, last = text.split(maxsplit=1), text.rsplit(maxsplit=1)
        if first and (option := _OPTION.fullmatch(first[0])):
            rest = "".join(first[1:])
        elif last and (option := _OPTION.fullmatch(last[-1])):
            rest = "".join(last[:-1])
        else:
            return text, None
        return rest, self.named(option[1], rest)

    def take_any(self, text: str) -> tuple[str, Project | None]:
        """Return a text of options without the first project named in it, and that project.

        Raises UnknownProject.
        """
        parts = text.split() if self.are_several else []
        for place, word in enumerate(parts):
            if option := _OPTION.fullmatch(word):
                rest = " ".join([*parts[:place], *parts[place + 1 :]])
                return rest, self.named(option[1], rest)
        return text, None
