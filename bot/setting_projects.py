"""The value of DOCS_PROJECTS: the projects of the docs service that one bot serves."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, SecretStr, ValidationError

from bot.setting_types import Address, header_value

MOST_PROJECTS = 20
_NAME = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,28}[a-z0-9])?")
_LABEL_LENGTH = 60
_EXAMPLE = '{"acme": {"id": "…", "label": "Acme"}}'


def _label(value: str) -> str:
    return " ".join(value.split())[:_LABEL_LENGTH].strip()


class ProjectEntry(BaseModel):
    """An entry of DOCS_PROJECTS, which may use the key and the address of DOCS_API_KEY and DOCS_API_URL."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    name: str
    id: Annotated[str, Field(min_length=1, max_length=200)]
    key: Annotated[SecretStr, Field(min_length=1), AfterValidator(header_value)] | None = None
    address: Address | None = None
    label: Annotated[str, AfterValidator(_label)] = ""


@dataclass(frozen=True, slots=True)
class SettingNames:
    """Where the settings have what is used for a project."""

    id: str = "DOCS_PROJECT_ID"
    key: str = "DOCS_API_KEY"
    address: str = "DOCS_API_URL"


@dataclass(frozen=True, slots=True)
class DocsProject:
    """A project that the bot serves, with the address and the key that are used for it.

    ``name`` is what people type, ``label`` what they read, ``named`` where the settings have the rest.
    """

    name: str
    id: str
    label: str
    address: str
    key: SecretStr
    named: SettingNames = SettingNames()


def project_entries(value: str | tuple[ProjectEntry, ...]) -> tuple[ProjectEntry, ...]:
    """Parse DOCS_PROJECTS. Raises ValueError, which names entries and never quotes what they hold."""
    if not isinstance(value, str):
        return value  # the default
    entries = _object(value)
    if not 1 <= len(entries) <= MOST_PROJECTS:
        raise ValueError(f"must have from 1 to {MOST_PROJECTS} projects, and has {len(entries)}")
    parsed: list[ProjectEntry] = []
    wrong: list[str] = []
    for place, (name, about) in enumerate(entries, 1):
        try:
            parsed.append(_entry(name, about))
        except ValueError as error:
            wrong.append(f"entry {place}{f' ({name})' if _NAME.fullmatch(name) else ''} {error}")
    wrong += _repeated(parsed)
    if wrong:
        raise ValueError("; ".join(wrong))
    return tuple(parsed)


def _object(text: str) -> list[tuple[str, Any]]:
    """Return the members of a JSON object, also those of one name."""
    members: list[list[tuple[str, Any]]] = []

    def keep(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        members.append(pairs)  # the outermost object comes last
        return dict(pairs)

    try:
        whole = json.loads(text, object_pairs_hook=keep)
    except (ValueError, RecursionError):
        raise ValueError(f"is not JSON; it looks like {_EXAMPLE}") from None
    if not isinstance(whole, dict):
        raise ValueError(f"must be a JSON object; it looks like {_EXAMPLE}")
    return members[-1]


def _entry(name: str, about: object) -> ProjectEntry:
    if not _NAME.fullmatch(name):
        raise ValueError(
            "needs a name of small letters, digits and hyphens, at most 30, such as acme or acme-api"
        )
    if not isinstance(about, dict) or "name" in about:
        raise ValueError('must be an object with "id", and perhaps "key", "address" and "label"')
    try:
        entry = ProjectEntry.model_validate({**about, "name": name})
    except ValidationError as error:
        told = (_told(dict(each)) for each in error.errors(include_input=False, include_url=False))
        raise ValueError(", ".join(told)) from None
    return entry if entry.label else entry.model_copy(update={"label": name})


def _told(problem: Mapping[str, Any]) -> str:
    """Return what is wrong with a member of an entry. The name of an unknown one might be a secret."""
    if problem["type"] == "extra_forbidden":
        return 'has a member other than "id", "key", "address" and "label"'
    words = str(problem["msg"]).removeprefix("Value error, ")
    name = str(problem["loc"][0])
    return f'"{name}" ' + ("is missing" if problem["type"] == "missing" else f"{words[0].lower()}{words[1:]}")


def counted_with(project: DocsProject, served: Sequence[DocsProject]) -> str:
    """Return the id under which a project's calls of the analytics API are counted.

    The service counts those of an organisation together, as far as one can tell: those of one key.
    """
    return min(each.id for each in served if (each.address, each.key) == (project.address, project.key))


def _repeated(entries: Sequence[ProjectEntry]) -> list[str]:
    """Return what two entries may not share. Rows of the database belong to an id, whatever its address."""
    names, ids = [each.name for each in entries], [each.id for each in entries]
    wrong = [f"has two entries {name}" for name in dict.fromkeys(names) if names.count(name) > 1]
    for which in dict.fromkeys(ids):
        sharing = [each.name for each in entries if each.id == which]
        if len(set(sharing)) > 1:
            wrong.append(f'{" and ".join(sharing)} have the same "id"')
    return wrong


def entries_of(found: Mapping[str, str]) -> tuple[ProjectEntry, ...]:
    """Return the entries of DOCS_PROJECTS among the variables; none if it is missing or wrong."""
    try:
        return project_entries(found["DOCS_PROJECTS"]) if "DOCS_PROJECTS" in found else ()
    except ValueError:
        return ()  # the setting itself is reported as invalid


def unfit(found: Mapping[str, str]) -> list[str]:
    """Return what does not fit DOCS_PROJECTS among the other variables: a key, an address, the default."""
    entries = entries_of(found)
    wrong = [line for entry in entries for line in _lacking(entry, found)]
    if entries and found.get("DOCS_PROJECT_ID") not in (None, *(entry.id for entry in entries)):
        wrong.append('DOCS_PROJECT_ID is the "id" of none of DOCS_PROJECTS: add it there, or leave it out')
    return wrong


def _lacking(entry: ProjectEntry, found: Mapping[str, str]) -> list[str]:
    """Return whether an entry has no key or address. The key of DOCS_API_URL is not for other hosts."""
    named = f"DOCS_PROJECTS {entry.name} has"
    if entry.address is not None:
        return [] if entry.key else [f'{named} an "address" of its own, so it needs a "key" of its own']
    wrong = [] if "DOCS_API_URL" in found else [f'{named} no "address", and DOCS_API_URL is missing']
    if entry.key is None and "DOCS_API_KEY" not in found:
        wrong.append(f'{named} no "key", and DOCS_API_KEY is missing')
    return wrong


def served(
    entries: Sequence[ProjectEntry], default: str, address: str, key: SecretStr
) -> tuple[DocsProject, ...]:
    """Return the projects, that with the id ``default`` first. What an entry lacks is taken from the rest."""
    projects = [
        DocsProject(each.name, each.id, each.label, each.address or address, each.key or key, _named(each))
        for each in entries
    ]
    return tuple(sorted(projects, key=lambda each: each.id != default))


def _named(entry: ProjectEntry) -> SettingNames:
    usual, of_entry = SettingNames(), f"of {entry.name} in DOCS_PROJECTS"
    return SettingNames(
        f"the id {of_entry}",
        f"the key {of_entry}" if entry.key else usual.key,
        f"the address {of_entry}" if entry.address else usual.address,
    )
