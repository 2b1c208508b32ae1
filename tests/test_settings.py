"""The settings: accepted and refused values, without a value in any message."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.app import find_budget_project
from bot.loading import SettingsError
from bot.settings import (
    MAX_PROJECTS,
    DocsProject,
    DocsSettings,
    Settings,
    sqlalchemy_url,
)

GOOD = {
    "SLACK_BOT_TOKEN": "xoxb-1",
    "SLACK_APP_TOKEN": "xapp-1",
    "DOCS_API_URL": "https://docs.example/base",
    "DOCS_API_KEY": "key",
    "DOCS_PROJECT_ID": "acme",
}


def load(**changes: str | None) -> Settings:
    env = {**GOOD, **changes}
    return Settings.load(
        {name: value for name, value in env.items() if value is not None}, env_file=None
    )


def complaint(**changes: str | None) -> str:
    with pytest.raises(SettingsError) as error:
        load(**changes)
    return str(error.value)


def test_the_fewest_settings_are_enough() -> None:
    settings = load()
    assert settings.socket_mode
    assert settings.slack_api_url == "https://slack.com/api/"
    assert settings.port == 3000
    assert settings.sqlalchemy_url == "sqlite:///var/docs-bot.db"


def test_without_an_app_token_it_is_http_and_needs_the_signing_secret() -> None:
    assert not load(SLACK_APP_TOKEN=None, SLACK_SIGNING_SECRET="s").socket_mode
    assert "SLACK_SIGNING_SECRET" in complaint(SLACK_APP_TOKEN=None)


def test_everything_that_is_wrong_is_told_at_once_in_the_order_of_the_docs() -> None:
    message = complaint(
        SLACK_BOT_TOKEN=None,
        SLACK_APP_TOKEN=None,
        PORT="99999",
        DOCS_API_URL="ftp://x",
        DOCS_API_KEY="  ",
        USES_AN_HOUR="0",
        POLL_MIN_SECONDS="99",
    )
    assert [line.split()[1] for line in message.splitlines() if line.startswith("  - ")] == [
        "SLACK_BOT_TOKEN",
        "SLACK_APP_TOKEN",
        "PORT",
        "DOCS_API_URL",
        "DOCS_API_KEY",
        "USES_AN_HOUR",
        "POLL_MIN_SECONDS",
    ]


_QUOTED = "stands in quotes, which `docker run --env-file` keeps: write it without them"
_PROXY = "must be the address of a proxy"


WRONG = [
    ("SLACK_BOT_TOKEN", "canary-7f3a", "must begin with xoxb-"),
    ("SLACK_BOT_TOKEN", "xapp-canary", "this is an app token, which belongs in SLACK_APP_TOKEN"),
    ("SLACK_BOT_TOKEN", "xoxb-", "has nothing after xoxb-"),
    ("SLACK_BOT_TOKEN", "'xoxb-canary'", _QUOTED),
    ("SLACK_APP_TOKEN", "xapp-", "has nothing after xapp-"),
    ("SLACK_SIGNING_SECRET", '"canary"', _QUOTED),
    (
        "SLACK_SIGNING_SECRET",
        "xoxb-canary",
        "must be the Signing Secret of the app; this is a bot token",
    ),
    ("DOCS_API_KEY", "'canary'", _QUOTED),
    ("DOCS_API_KEY", "can ary", "has a blank or a line end in it: copy it again"),
    ("DOCS_API_KEY", "canäry", "has a sign in it that is not ASCII"),
    ("PORT", "canary", "input should be a valid integer"),
    ("HOST", "example.org", "must be an IP address"),
    ("KEEP_DAYS", "6", "must be from 7 to 36500 days, or 0 for ever"),
    ("KEEP_DAYS", "36501", "must be from 7 to 36500 days, or 0 for ever"),
    ("POLL_MIN_SECONDS", "61", "must not be greater than POLL_MAX_SECONDS"),
    ("ANALYTICS_ZONE", "Canary/Berlin", "must be the name of a time zone"),
    ("DATABASE_URL", "postgres://u:canary@h:canary/d", "is not the address of a database"),
    ("DATABASE_URL", "mysql://u:canary@h/d", "must begin with sqlite:/// or postgres://"),
    (
        "DATABASE_URL",
        "postgres://u:can@ry@h/d",
        "has an @ in its user name or password: write it as %40",
    ),
    (
        "DATABASE_URL",
        "postgres://h/d?sslcanary=1",
        "has an option behind its ? that PostgreSQL does not",
    ),
    ("DOCS_API_URL", "canary-7f3a", "must be an address that begins with https:// or http://"),
    ("DOCS_API_URL", "https://docs.example:canary/", "must be an address"),
    ("DOCS_API_URL", "https://[canary", "must be an address"),
    ("DOCS_API_URL", "https://ana:canary@docs.example", "must not carry a user name or password"),
    (
        "SLACK_API_URL",
        "https://slack.example/?token=canary",
        "must not carry a query or a fragment",
    ),
    (
        "GITHUB_API_URL",
        "https://github.com/canary",
        "must be https://api.github.com, https://HOST/api/v3",
    ),
    (
        "GITHUB_API_URL",
        "http://git.example/api/v3",
        "begins with http://, so keys and texts could be read",
    ),
    ("GITHUB_TOKEN", "ghp_can ary", "has a blank or a line end in it: copy it again"),
    ("HTTPS_PROXY", "socks5://u:canary@host", _PROXY),
    ("HTTPS_PROXY", "proxy:3128", _PROXY),
    ("HTTPS_PROXY", "http://", _PROXY),
    ("HTTPS_PROXY", "http://h:canary", _PROXY),
    ("ADMINS", "@canary", "must be ids of Slack (U… or W…) with commas between them, not names"),
    ("ADMINS", "U1;U2", "must be ids of Slack"),
    ("ALLOWED_USERS", "U1,C2", "must be ids of Slack"),
    ("ALLOWED_USER_GROUPS", "@writers", "must be ids of Slack"),
    ("ALLOWED_CHANNELS", "#docs", "must be ids of Slack"),
    ("ALLOWED_LINK_HOSTS", "https://github.com", "must be names of hosts"),
    ("ALLOWED_LINK_HOSTS", "github.com/acme", "must be names of hosts"),
    ("ALLOWED_LINK_HOSTS", "a..b", "must be names of hosts"),
    ("ALLOWED_LINK_HOSTS", "*.github.com", "must be names of hosts"),
    ("HEALTH_PORT", "65536", "input should be less than or equal to 65535"),
    ("PORT", "-1", "input should be greater than or equal to 0"),
    ("HEALTH_HOST", "canary", "must be an IP address of this machine"),
    ("ALLOW_HTTP", "canary", "input should be a valid boolean"),
    ("PROMPT_SIGNATURE", "canary", "input should be a valid boolean"),
    ("USES_AN_HOUR", "0", "input should be greater than or equal to 1"),
    ("USES_AN_HOUR", "1.5", "input should be a valid integer"),
    ("REMIND_AFTER_DAYS", "91", "input should be less than or equal to 90"),
    ("REMIND_AFTER_DAYS", "-1", "input should be greater than or equal to 0"),
    ("ANSWERS", "canary", "input should be 'assistant' or 'search'"),
    ("ANSWERS_A_DAY", "canary", "input should be a valid integer"),
    ("ASSISTANT_DOMAIN", "c" * 201, "string should have at most 200 characters"),
    ("ASSISTANT_KEY", "can ary", "has a blank or a line end in it: copy it again"),
    ("PREVIEWS", "canary", "input should be 'press', 'always' or 'off'"),
    ("CONTEXT", "canary", "input should be 'thread' or 'none'"),
    ("KEEP_DAYS", "canary", "input should be a valid integer"),
    ("POLL_MIN_SECONDS", "0", "input should be greater than 0"),
    ("POLL_MIN_SECONDS", "nan", "input should be a finite number"),
    ("POLL_MAX_SECONDS", "inf", "input should be a finite number"),
    ("POLL_MAX_SECONDS", "canary", "input should be a valid number"),
    ("ALLOWED_BOTS", "B1", "must be ids of Slack (A… or U… or W…)"),
    ("LOG_LEVEL", "canary", "input should be 'DEBUG', 'INFO', 'WARNING' or 'ERROR'"),
    ("DOCS_PROJECTS", "canary", "must be a JSON object"),
]
"""Settings, wrong values, and the sentence about each."""
ANY_TEXT = {"DOCS_PROJECT_ID", "NO_PROXY"}


def test_every_setting_has_a_wrong_value_and_its_sentence() -> None:
    assert {name for name, _, _ in WRONG} == set(Settings.variables()) - ANY_TEXT


@pytest.mark.parametrize(("name", "value", "message"), WRONG)
def test_a_wrong_value_is_told_in_one_line_that_does_not_quote_it(
    name: str, value: str, message: str
) -> None:
    [line] = [line for line in complaint(**{name: value}).splitlines() if line.startswith("  - ")]
    assert line.startswith(f"  - {name} ")
    assert message in line
    assert "canary" not in line.lower()


def test_what_is_probably_not_meant_is_a_warning() -> None:
    assert load(PATH="/bin", PORTS="1", LOG_LEVELS="canary", LOG_LEVEL="INFO").warnings() == ()
    (misspelt,) = load(LOG_LEVLE="canary").warnings()
    assert misspelt == "LOG_LEVLE is no setting: did you mean LOG_LEVEL?"
    (near,) = load(ADMIN="U0ANA").warnings()
    assert near == "ADMIN is no setting: did you mean ADMINS?"
    (unused,) = load(SLACK_CLIENT_ID="canary", SLACK_CLIENT_SECRET="canary").warnings()
    assert "SLACK_CLIENT_SECRET" in unused
    assert "canary" not in unused


@pytest.mark.parametrize(
    "name", ["DATABASE_CONNECTIONS", "WAITING_PER_PERSON", "ANALYTICS_CALLS_AN_HOUR", "LOG_FORMAT"]
)
def test_former_setting_is_named_without_its_value(name: str) -> None:
    [warning] = load(**{name: "canary"}).warnings()
    assert warning.startswith(f"{name} no longer does anything, take it out: ")
    assert "canary" not in warning
    assert load(**{name: ""}).warnings() == ()


def test_a_password_of_the_database_is_a_secret_as_it_is_written_and_as_it_is_meant() -> None:
    assert {"p%40ss", "p@ss"} <= set(load(DATABASE_URL="postgres://u:p%40ss@h/d").secrets())


def test_a_misspelt_list_does_not_open_the_bot_to_all() -> None:
    assert "ALLOWED_USER is no setting (did you mean ALLOWED_USERS?)" in complaint(
        ALLOWED_USER="U0ANA"
    )
    assert "ALLOWED_CHANEL is no setting" in complaint(ALLOWED_CHANEL="C0DOCS")
    assert load(ALLOWED_HOSTS="example.com", ALLOWED_USERS="U0ANA").warnings() == ()


def test_no_secret_stands_in_the_repr() -> None:
    changes = serving({"acme": ACME | {"key": "canary-acme"}}) | {"DOCS_API_KEY": "canary-key"}
    settings = load(**changes, DATABASE_URL="postgres://u:canary-db@h/d", GITHUB_TOKEN="canary-git")
    assert {"canary-acme", "canary-key", "canary-db", "canary-git"} <= set(settings.secrets())
    assert "canary" not in repr(settings) + repr(settings.projects)


def test_the_environment_wins_over_the_file(tmp_path: Path) -> None:
    file = tmp_path / ".env"
    file.write_text("PORT=4000\nLOG_LEVEL=DEBUG\nSLACK_SIGNING_SECRET=\n")
    settings = Settings.load({**GOOD, "PORT": "5000"}, env_file=file)
    assert (settings.port, settings.log_level) == (5000, "DEBUG")


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("postgres://u:p@h/d", "postgresql+psycopg://u:p@h/d"),
        ("postgresql://h/d?sslmode=require", "postgresql+psycopg://h/d?sslmode=require"),
        ("sqlite:///x.db", "sqlite:///x.db"),
        ("sqlite://", "sqlite:///:memory:"),
        (":memory:", "sqlite:///:memory:"),
    ],
)
def test_databases_are_named_as_hosts_and_people_name_them(address: str, expected: str) -> None:
    assert sqlalchemy_url(address) == expected


@given(st.dictionaries(st.sampled_from(Settings.variables()), st.text(max_size=30)))
def test_any_environment_gives_settings_or_one_readable_list(env: dict[str, str]) -> None:
    try:
        Settings.load(env, env_file=None)
    except SettingsError as error:
        message = str(error)
    else:
        message = ""
    assert message == "" or message.startswith("These settings cannot work:\n  - ")


DOCS = {name: value for name, value in GOOD.items() if name.startswith("DOCS_")}


def test_the_docs_service_alone_needs_nothing_of_slack() -> None:
    settings = DocsSettings.load(
        {**DOCS, "PORT": "nonsense", "SLACK_CLIENT_ID": "1"}, env_file=None
    )
    assert (settings.docs_api_url, settings.docs_project_id) == (
        "https://docs.example/base",
        "acme",
    )
    assert settings.projects[0].key.get_secret_value() == "key"
    assert settings.warnings() == ()


def test_lists_are_ids_with_commas_or_blanks() -> None:
    settings = load(
        ADMINS="U1,W2",
        ALLOWED_USERS=" U3 , U3 ",
        ALLOWED_USER_GROUPS="S1 S2",
        ALLOWED_CHANNELS="C1",
    )
    assert settings.admins == {"U1", "W2"}
    assert settings.allowed_users == {"U3"}
    assert settings.allowed_user_groups == {"S1", "S2"}
    assert load(ALLOWED_CHANNELS="C1 G2,D3").allowed_channels == {"C1", "G2", "D3"}
    assert load().admins == frozenset()


def test_health_is_on_this_machine_alone_unless_somebody_says_otherwise() -> None:
    settings = load()
    assert (settings.host, settings.health_host, settings.health_port) == (
        "127.0.0.1",
        "127.0.0.1",
        3001,
    )
    assert load(HEALTH_HOST="::", HOST="localhost").health_host == "::"
    assert load(HOST="localhost").host == "127.0.0.1"


def test_two_ports_of_one_number_are_refused_where_both_are_opened() -> None:
    http = {"SLACK_APP_TOKEN": None, "SLACK_SIGNING_SECRET": "s"}
    assert "PORT and HEALTH_PORT must differ" in complaint(**http, PORT="3001")
    assert load(**http, PORT="0", HEALTH_PORT="0").port == 0
    assert load(PORT="3001").health_port == 3001, "in Socket Mode there is only one"


@pytest.mark.parametrize(
    ("address", "is_direct"),
    [
        ("https://slack.com/api/", False),
        ("wss://wss-primary.slack.com/link", False),
        ("https://docs.example:8443/base", False),
        ("https://in.corp.example/", True),
        ("https://corp.example/", True),
        ("https://notcorp.example/", False),
        ("https://localhost:9/", True),
        ("https://127.4.5.6/", True),
        ("https://[::1]:9/", True),
        ("http://docs.example/", True),
    ],
)
def test_a_proxy_is_for_all_but_the_excepted_and_this_machine(
    address: str, is_direct: bool
) -> None:
    proxy = "http://user:canary-7f3a@proxy.example:3128"
    settings = load(HTTPS_PROXY=proxy, NO_PROXY="other.example, .corp.example")
    assert settings.proxy_for(address) == (None if is_direct else proxy)
    assert load(HTTPS_PROXY=proxy, NO_PROXY="*").proxy_for(address) is None
    assert load().proxy_for(address) is None
    assert "canary-7f3a" in settings.secrets()
    assert "canary-7f3a" not in repr(settings)


@pytest.mark.parametrize("name", ["SLACK_API_URL", "DOCS_API_URL"])
def test_without_encryption_only_this_machine_is_reached_unless_it_is_allowed(name: str) -> None:
    for local in (
        "http://127.0.0.1:8801/api/",
        "http://localhost/",
        "http://[::1]:1/",
        "https://far.example/",
    ):
        assert not load(**{name: local}).allow_http
    for far in (
        "http://far.example/",
        "http://10.0.0.1/",
        "http://localhost.far.example/",
        "http://127.0.0.1.far.example/",
        "HTTP://far.example/",
    ):
        assert f"{name} begins with http://" in complaint(**{name: far})
        assert load(**{name: far}, ALLOW_HTTP="true").allow_http


def test_the_command_for_visitors_refuses_a_key_without_encryption_too() -> None:
    with pytest.raises(SettingsError, match="DOCS_API_URL begins with http://"):
        DocsSettings.load(DOCS | {"DOCS_API_URL": "http://far.example/"}, env_file=None)
    # Slack is not called by that command.
    assert not DocsSettings.load(
        DOCS | {"SLACK_API_URL": "http://far.example/"}, env_file=None
    ).allow_http


ACME: dict[str, Any] = {"id": "p-acme", "label": "Acme docs"}
BETA: dict[str, Any] = {"id": "p-beta", "key": "key-of-beta", "address": "https://beta.example"}


def serving(projects: object) -> dict[str, str | None]:
    """The settings of a bot that serves these projects, the default of which is the first."""
    text = projects if isinstance(projects, str) else json.dumps(projects)
    return {"DOCS_PROJECTS": text, "DOCS_API_KEY": "key-of-all", "DOCS_PROJECT_ID": None}


def plain(project: DocsProject) -> tuple[str, ...]:
    key = project.key.get_secret_value()
    return (project.name, project.id, project.label, project.address, key)


def test_several_projects_need_no_project_id_and_share_what_they_do_not_give() -> None:
    assert [
        plain(project) for project in load(**serving({"acme": ACME, "beta": BETA})).projects
    ] == [
        ("acme", "p-acme", "Acme docs", "https://docs.example/base", "key-of-all"),
        ("beta", "p-beta", "beta", "https://beta.example", "key-of-beta"),
    ]


def test_projects_with_one_key_are_counted_under_one_id_whatever_their_order() -> None:
    more = {"id": "p-more", "key": "key-of-beta", "address": "https://beta.example"}
    several = serving({"acme": ACME, "more": more, "beta": BETA})
    for default in ("p-acme", "p-beta", "p-more"):
        served = load(**several | {"DOCS_PROJECT_ID": default}).projects
        counted = {project.id: find_budget_project(project, served) for project in served}
        assert counted == {"p-acme": "p-acme", "p-beta": "p-beta", "p-more": "p-beta"}


def test_without_the_setting_there_is_one_project_and_its_settings_are_required() -> None:
    [alone] = load().projects
    assert plain(alone) == ("acme", "acme", "acme", "https://docs.example/base", "key")
    assert "DOCS_PROJECT_ID is missing" in complaint(DOCS_PROJECT_ID=None)


def test_where_each_project_has_its_own_key_and_address_nothing_else_is_needed() -> None:
    alone = load(**serving({"beta": BETA}) | {"DOCS_API_URL": None, "DOCS_API_KEY": None})
    assert plain(alone.projects[0])[3:] == ("https://beta.example", "key-of-beta")


def test_what_a_project_could_not_use_is_told() -> None:
    message = complaint(
        **serving({"acme": {"id": "p"}}) | {"DOCS_API_URL": None, "DOCS_API_KEY": None}
    )
    assert 'DOCS_PROJECTS acme has no "address", and DOCS_API_URL is missing' in message
    assert 'DOCS_PROJECTS acme has no "key", and DOCS_API_KEY is missing' in message


def test_assistant_needs_its_key_and_domain_together() -> None:
    both: dict[str, str | None] = {"ASSISTANT_KEY": "canary-a", "ASSISTANT_DOMAIN": "acme"}
    [alone] = load(**both).projects
    assert (alone.assistant_key is not None, alone.assistant_domain) == (True, "acme")
    assert "canary-a" in load(**both).secrets()
    assert "ASSISTANT_DOMAIN is missing" in complaint(**both | {"ASSISTANT_DOMAIN": None})
    assert "ASSISTANT_KEY is missing" in complaint(**both | {"ASSISTANT_KEY": None})
    assert 'write it into DOCS_PROJECTS as "assistant_key"' in complaint(
        **both | serving({"acme": ACME})
    )
    entry = {**ACME, "assistant_key": "canary-b", "assistant_domain": "acme"}
    settings = load(**serving({"acme": entry, "beta": BETA}))
    assert [one.assistant_domain for one in settings.projects] == ["acme", None]
    assert "canary-b" in settings.secrets()


@pytest.mark.parametrize(
    ("projects", "message"),
    [
        (
            {"acme": {**BETA, "key": None}},
            'acme has an "address" of its own, so it needs a "key" of its own',
        ),
        ("canary-7f3a", "must be a JSON object"),
        ("[" * 100_000, "must be a JSON object"),
        ('["canary-7f3a"]', "must be a JSON object"),
        ("{}", "must have from 1 to"),
        (
            {f"p{n}": {"id": f"{n}"} for n in range(MAX_PROJECTS + 1)},
            f"from 1 to {MAX_PROJECTS} projects",
        ),
        ({"canary_7f3a": ACME}, "entry 1 needs a name of small letters"),
        ({"Canary": ACME}, "entry 1 needs a name of small letters"),
        ({"a" * 31: ACME}, "entry 1 needs a name"),
        ({"acme": "canary-7f3a"}, "entry 1 (acme) must be an object"),
        ({"acme": {"label": "canary-7f3a"}}, 'entry 1 (acme) "id" is missing'),
        ({"acme": {"id": ""}}, 'entry 1 (acme) "id" string should have at least 1 character'),
        ({"acme": {**ACME, "kee": "canary-7f3a"}}, "entry 1 (acme) has a member other than"),
        ({"acme": {**ACME, "key": "canary 7f3a"}}, 'entry 1 (acme) "key" has a blank'),
        (
            {"acme": {**ACME, "key": "canäry"}},
            'entry 1 (acme) "key" has a sign in it that is not ASCII',
        ),
        ({"acme": {**ACME, "key": ["canary"]}}, 'entry 1 (acme) "key"'),
        (
            {"acme": {**BETA, "address": "ftp://canary"}},
            'entry 1 (acme) "address" must be an address',
        ),
        ({"acme": {**BETA, "address": "https://u:canary@h"}}, "must not carry a user name"),
        (
            {"acme": {**BETA, "address": "http://far.example"}},
            "DOCS_PROJECTS acme begins with http://",
        ),
        (
            {"acme": {**ACME, "assistant_key": "canary 7"}},
            'entry 1 (acme) "assistant_key" has a blank',
        ),
        (
            {"acme": {**ACME, "assistant_key": "canary"}},
            'DOCS_PROJECTS acme has no "assistant_domain"',
        ),
        (
            {"acme": {**ACME, "assistant_domain": "canary"}},
            'DOCS_PROJECTS acme has no "assistant_key"',
        ),
        ({"acme": ACME, "beta": {**BETA, "id": "p-acme"}}, 'acme and beta have the same "id"'),
        ('{"acme": {"id": "1"}, "acme": {"id": "2"}}', "has two entries acme"),
    ],
)
def test_what_cannot_work_is_told_with_its_entry_and_without_its_value(
    projects: object, message: str
) -> None:
    complaints = complaint(**serving(projects))
    assert message in complaints
    assert "canary" not in complaints.lower()
    assert len(complaints.splitlines()) == 3, (
        "one line for what is wrong, and none that follows from it"
    )


@given(
    st.text(max_size=60)
    | st.dictionaries(st.text(max_size=4), st.just(ACME) | st.none()).map(json.dumps)
)
def test_any_text_gives_projects_or_one_line(text: str) -> None:
    problems: Sequence[str] = ["an outcome"]
    try:
        settings = load(**serving(text) | {"DOCS_PROJECT_ID": "p-acme"})
        assert all(project.name and project.id for project in settings.projects)
    except SettingsError as error:
        problems = error.problems
    assert len(problems) == 1
