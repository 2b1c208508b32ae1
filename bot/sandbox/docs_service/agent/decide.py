"""From a prompt and the files of the site to a change of some files, with the words for its commit."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from bot.sandbox.docs_service.agent import edits
from bot.sandbox.docs_service.agent.drafts import commit_title, draft, menu_group, page_path
from bot.sandbox.docs_service.agent.page import Page
from bot.sandbox.docs_service.agent.pages_index import (
    NAMED,
    find_page,
    is_page,
    link,
    place_names,
    title_of,
    with_menu_entry,
)
from bot.sandbox.docs_service.agent.reading import Action, Clause, PageKind, read, read_again
from bot.sandbox.docs_service.agent.topics import find_topics
from bot.sandbox.docs_service.agent.wording import clip, key_stems
from bot.sandbox.docs_service.seeding import fill, names

NAVIGATION = "docs/navigation.json"
_OF_ITSELF = frozenset({"guide", "doc", "documentation", "section", "article", "wording", "text", "content"})


@dataclass(frozen=True)
class Change:
    """Files to write; `title` is the commit's first line, `notes` all that was done, `page` the main one."""

    files: Mapping[str, str]
    title: str
    notes: tuple[str, ...]
    page: str


@dataclass(frozen=True)
class Unchanged:
    """Nothing to do, and why."""

    reason: str


@dataclass
class _Desk:
    project: str
    files: dict[str, str]
    page: str | None
    notes: list[str] = field(default_factory=list)
    doubts: list[str] = field(default_factory=list)

    def note(self, text: str) -> None:
        if text not in self.notes:
            self.notes.append(text)


def decide(
    files: Mapping[str, str], prompt: str, project: str, page: str | None = None
) -> Change | Unchanged:
    """What to change for the prompt; `page` is the one that the job wrote before, if it did."""
    desk = _Desk(project, dict(files), page if page in files else None)
    clauses = read(prompt, place_names(files))
    for number, clause in enumerate(clauses):
        if clause.action is Action.NOTHING and (desk.notes or number < len(clauses) - 1):
            continue
        _apply(desk, clause)
    changed = {path: text for path, text in desk.files.items() if files.get(path) != text}
    if not changed or desk.page is None or not desk.notes:
        return Unchanged(desk.doubts[0] if desk.doubts else "There was nothing to do for this prompt.")
    return Change(changed, clip(desk.notes[0], 72), tuple(desk.notes), desk.page)


def _apply(desk: _Desk, clause: Clause) -> None:
    if clause.action is Action.CREATE and not _is_place(desk, clause):
        _create(desk, clause)
        return
    target = _target(desk, clause)
    match clause.action:
        case Action.REPLACE:
            _replace(desk, clause, target)
        case Action.SPELLING:
            _correct_spelling(desk, target)
        case Action.LINK:
            _link(desk, clause, target)
        case _:
            _edit(desk, clause, target)


def _is_place(desk: _Desk, clause: Clause) -> bool:
    """Whether the page asked for is there already, so that it is to be added to."""
    path = page_path(clause)
    if path in desk.files:
        desk.page = path
        return True
    return False


def _target(desk: _Desk, clause: Clause) -> str | None:
    # A follow-up stays with the job's page unless another one is plainly meant; "explain how to" is a guide.
    wide = desk.page is None and not clause.subject.lower().startswith("how to ")
    return find_page(desk.files, clause.text, least=1 if wide else NAMED) or desk.page


def _create(desk: _Desk, clause: Clause) -> None:
    path, group = page_path(clause), menu_group(page_path(clause))
    page = draft(clause, names(desk.project)["product"])
    desk.files[path] = _finish(desk, path, page.render())
    desk.page = path
    if NAVIGATION in desk.files:
        desk.files[NAVIGATION] = with_menu_entry(desk.files[NAVIGATION], path, group)
    _link_from_start(desk, path, clause)
    desk.note(f"Write about “{clip(clause.subject, 50)}”" if clause.odd else commit_title(clause))


def _link_from_start(desk: _Desk, path: str, clause: Clause) -> None:
    start = "docs/index.md"
    if start in desk.files:
        page = Page.parse(desk.files[start])
        early = clause.kind in (PageKind.QUICKSTART, PageKind.TUTORIAL)
        bullet = link(desk.files, start, path)
        desk.files[start] = page.with_bullet("Start here" if early else "Build", bullet).render()


def _finish(desk: _Desk, path: str, text: str) -> str:
    """The text with the product's names and with links to pages that are there."""

    def as_link(match: re.Match[str]) -> str:
        target = f"docs/{match[1]}.md"
        return link(desk.files, path, target) if target in desk.files else match[1]

    filled = fill(text, desk.project)
    return re.sub(r"\[\[([a-z0-9/-]+)\]\]", as_link, filled)


def _edit(desk: _Desk, clause: Clause, target: str | None) -> None:
    if target is None and clause.action in (Action.REMOVE, Action.SHORTEN):
        desk.doubts.append("The prompt names no page of the site.")
        return
    target = target or _page_by_topic(desk, clause)
    if target is None:
        kind = PageKind.GUIDE if clause.subject.lower().startswith("how to") else PageKind.CONCEPT
        subject = clause.subject or clause.text
        odd = clause.action is Action.NOTHING
        _create(desk, replace(clause, action=Action.CREATE, subject=subject, kind=kind, odd=odd))
        return
    before = Page.parse(desk.files[target])
    after, note = _edited(before, clause)
    if after == before:
        desk.doubts.append(f"{before.title} is already as the prompt asks, or has nothing that matches it.")
        return
    desk.files[target] = _finish(desk, target, after.render())
    desk.page = target
    where = f" in {before.title}" if before.title and before.title.lower() not in note.lower() else ""
    if clause.action is Action.SHORTEN:
        note, where = f"Shorten {before.title}", ""
    elif clause.action is Action.NOTHING:
        note = f"Write about “{clip(clause.subject, 40)}”"
    desk.note(note + where)


def _edited(page: Page, clause: Clause) -> tuple[Page, str]:
    match clause.action:
        case Action.MENTION:
            return edits.mention(page, clause)
        case Action.EXAMPLE:
            return edits.add_example(page, clause)
        case Action.TABLE:
            return edits.add_table(page, clause)
        case Action.REMOVE:
            return edits.remove(page, clause)
        case Action.SHORTEN:
            return edits.shorten(page)
        case _ if key_stems(re.sub(r"^/?docs/|\.md$", "", clause.subject)) <= _OF_ITSELF | key_stems(
            page.title
        ):
            return edits.improve(page)
        case _:
            return edits.add_explanation(page, clause)


def _page_by_topic(desk: _Desk, clause: Clause) -> str | None:
    if clause.action not in (Action.MENTION, Action.EXAMPLE, Action.TABLE):
        return None
    pages = [f"docs/{topic.page}.md" for topic in find_topics(clause.text) if topic.page]
    return next((path for path in pages if path in desk.files), None)


def _replace(desk: _Desk, clause: Clause, target: str | None) -> None:
    looked_at = sorted(path for path in desk.files if is_page(path)) if target is None else [target]
    count = 0
    for path in looked_at:
        desk.files[path], here = edits.replace_words(desk.files[path], clause.old, clause.new)
        if here:
            count, desk.page = count + here, desk.page or path
    if count:
        where = f" in {title_of(desk.files, target)}" if target is not None else ""
        desk.note(f"Replace {clip(clause.old, 28)} with {clip(clause.new, 28)}{where}")
        return
    fits = [(edits.replace_number(desk.files[path], clause.old, clause.new), path) for path in looked_at]
    (text, score), path = max(fits, key=lambda entry: entry[0][1], default=(("", 0.0), ""))
    if score:
        desk.files[path], desk.page = text, path
        desk.note(f"Update {clip(clause.old, 28)} to {clip(clause.new, 28)} in {title_of(desk.files, path)}")
    elif re.search(r"[\"“”`«»]", clause.text) or re.match(r"rename|replace", clause.text, re.IGNORECASE):
        desk.doubts.append(f"“{clip(clause.old, 60)}” stands on no page that was looked at.")
    else:
        _edit(desk, read_again(clause), target)


def _correct_spelling(desk: _Desk, target: str | None) -> None:
    total = 0
    for path in sorted(path for path in desk.files if is_page(path)) if target is None else [target]:
        desk.files[path], count = edits.correct_spelling(desk.files[path])
        if count:
            total, desk.page = total + count, path
    if total:
        where = title_of(desk.files, target) if target is not None else "the documentation"
        desk.note(f"Correct the spelling in {where}")
    else:
        desk.doubts.append("No misspelling was found.")


def _link(desk: _Desk, clause: Clause, target: str | None) -> None:
    wanted = find_page(desk.files, clause.subject)
    origin = desk.page or target
    if wanted is None or origin is None or wanted == origin:
        desk.doubts.append("The page to link to was not found.")
        return
    before = Page.parse(desk.files[origin])
    after, note = edits.add_link(before, link(desk.files, origin, wanted))
    if after != before:
        desk.files[origin], desk.page = after.render(), origin
        desk.note(f"{note} from {before.title}")
