"""DOCS_PROJECTS: several projects for one bot, what is refused, and that no value is ever told."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.app import counted_with
from bot.settings import MOST_PROJECTS, DocsProject, DocsSettings, Settings, SettingsError

SLACK = {"SLACK_BOT_TOKEN": "xoxb-1", "SLACK_APP_TOKEN": "xapp-1"}
ONE = {"DOCS_API_URL": "https://docs.example/base", "DOCS_API_KEY": "key-of-all"}
ACME: dict[str, Any] = {"id": "p-acme", "label": "Acme docs"}
BETA: dict[str, Any] = {"id": "p-beta", "key": "key-of-beta", "address": "https://beta.example"}


def load(projects: object, **changes: str | None) -> Settings:
    text = projects if isinstance(projects, str) else json.dumps(projects)
    env = {**SLACK, **ONE, "DOCS_PROJECTS": text, **changes}
    return Settings.load({name: value for name, value in env.items() if value is not None}, env_file=None)


def complaint(projects: object, **changes: str | None) -> str:
    with pytest.raises(SettingsError) as error:
        load(projects, **changes)
    return str(error.value)


def plain(project: DocsProject) -> tuple[str, ...]:
    key = project.key.get_secret_value()
    return (project.name, project.id, project.label, project.address, key)


def test_several_projects_need_no_project_id_and_share_what_they_do_not_give() -> None:
    assert [plain(each) for each in load({"acme": ACME, "beta": BETA}).projects] == [
        ("acme", "p-acme", "Acme docs", "https://docs.example/base", "key-of-all"),
        ("beta", "p-beta", "beta", "https://beta.example", "key-of-beta"),
    ]


def test_projects_with_one_key_are_counted_under_one_id_whatever_their_order() -> None:
    more = {"id": "p-more", "key": "key-of-beta", "address": "https://beta.example"}
    for default in ("p-acme", "p-beta", "p-more"):
        served = load({"acme": ACME, "more": more, "beta": BETA}, DOCS_PROJECT_ID=default).projects
        counted = {each.id: counted_with(each, served) for each in served}
        assert counted == {"p-acme": "p-acme", "p-beta": "p-beta", "p-more": "p-beta"}


def test_the_project_id_chooses_the_default() -> None:
    projects = load({"acme": ACME, "beta": BETA}, DOCS_PROJECT_ID="p-beta").projects
    assert [each.name for each in projects] == ["beta", "acme"]
    assert "DOCS_PROJECT_ID is the" in complaint({"acme": ACME}, DOCS_PROJECT_ID="p-canary")


def test_without_the_setting_there_is_one_project_and_its_settings_are_required() -> None:
    settings = Settings.load({**SLACK, **ONE, "DOCS_PROJECT_ID": "p"}, env_file=None)
    assert [plain(each) for each in settings.projects] == [
        ("p", "p", "p", "https://docs.example/base", "key-of-all")
    ]
    with pytest.raises(SettingsError, match="DOCS_PROJECT_ID is missing"):
        Settings.load({**SLACK, **ONE}, env_file=None)


def test_where_each_project_has_its_own_key_and_address_nothing_else_is_needed() -> None:
    alone = load({"beta": BETA}, DOCS_API_URL=None, DOCS_API_KEY=None)
    assert plain(alone.projects[0])[3:] == ("https://beta.example", "key-of-beta")


def test_what_no_project_could_use_is_told_for_each() -> None:
    said = complaint({"acme": {"id": "p"}}, DOCS_API_URL=None, DOCS_API_KEY=None)
    assert 'DOCS_PROJECTS acme has no "address", and DOCS_API_URL is missing' in said
    assert 'DOCS_PROJECTS acme has no "key", and DOCS_API_KEY is missing' in said


def test_the_shared_key_never_goes_to_an_address_of_one_project() -> None:
    said = complaint({"acme": {"id": "p", "address": "https://elsewhere.example"}})
    assert 'DOCS_PROJECTS acme has an "address" of its own, so it needs a "key" of its own' in said


@pytest.mark.parametrize(
    ("projects", "told"),
    [
        ("canary-7f3a", "must be a JSON object"),
        ("[" * 100_000, "must be a JSON object"),
        ('["canary-7f3a"]', "must be a JSON object"),
        ("{}", "must have from 1 to"),
        ({f"p{n}": {"id": f"{n}"} for n in range(MOST_PROJECTS + 1)}, f"from 1 to {MOST_PROJECTS} projects"),
        ({"canary_7f3a": ACME}, "entry 1 needs a name of small letters"),
        ({"Canary": ACME}, "entry 1 needs a name of small letters"),
        ({"a" * 31: ACME}, "entry 1 needs a name"),
        ({"acme": "canary-7f3a"}, "entry 1 (acme) must be an object"),
        ({"acme": {"label": "canary-7f3a"}}, 'entry 1 (acme) "id" is missing'),
        ({"acme": {"id": ""}}, 'entry 1 (acme) "id" string should have at least 1 character'),
        ({"acme": {**ACME, "kee": "canary-7f3a"}}, "entry 1 (acme) has a member other than"),
        ({"acme": {**ACME, "key": "canary 7f3a"}}, 'entry 1 (acme) "key" has a blank'),
        ({"acme": {**ACME, "key": "canäry"}}, 'entry 1 (acme) "key" has a sign in it that is not ASCII'),
        ({"acme": {**ACME, "key": ["canary"]}}, 'entry 1 (acme) "key"'),
        ({"acme": {**BETA, "address": "ftp://canary"}}, 'entry 1 (acme) "address" must be an address'),
        ({"acme": {**BETA, "address": "https://u:canary@h"}}, "must not carry a user name"),
        ({"acme": {**BETA, "address": "http://far.example"}}, "DOCS_PROJECTS acme begins with http://"),
        ({"acme": ACME, "beta": {**BETA, "id": "p-acme"}}, 'acme and beta have the same "id"'),
        ('{"acme": {"id": "1"}, "acme": {"id": "2"}}', "has two entries acme"),
    ],
)
def test_what_cannot_work_is_told_with_its_entry_and_without_its_value(projects: object, told: str) -> None:
    said = complaint(projects)
    assert told in said
    assert "canary" not in said.lower()
    assert len(said.splitlines()) == 3, "one line for what is wrong, and none that follows from it"


def test_every_key_is_a_secret() -> None:
    settings = load({"acme": ACME, "beta": BETA})
    assert {"key-of-all", "key-of-beta"} <= set(settings.secrets())
    assert "key-of" not in repr(settings) + repr(settings.projects)


def test_a_label_is_one_line() -> None:
    assert load({"acme": {"id": "1", "label": " Acme \n docs " + "x" * 99}}).projects[0].label == (
        "Acme docs " + "x" * 50
    )


def test_http_is_taken_where_it_is_allowed() -> None:
    near = {"acme": {**BETA, "address": "http://127.0.0.1:9"}}
    far = {"acme": {**BETA, "address": "http://far.example"}}
    assert load(near).projects[0].address == "http://127.0.0.1:9"
    assert load(far, ALLOW_HTTP="true").projects[0].address == "http://far.example"


@given(st.text(max_size=60) | st.dictionaries(st.text(max_size=4), st.just(ACME) | st.none()).map(json.dumps))
def test_any_text_gives_projects_or_one_line(text: str) -> None:
    env = {**ONE, "DOCS_PROJECT_ID": "p-acme", "DOCS_PROJECTS": text}
    problems: Sequence[str] = ["an outcome"]
    try:
        assert all(each.name and each.id for each in DocsSettings.load(env, None).projects)
    except SettingsError as error:
        problems = error.problems
    assert len(problems) == 1
