"""The settings: read once from the environment or a ``.env`` file, validated together, and then frozen."""

from __future__ import annotations

import difflib
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Self
from urllib.parse import urlsplit
from urllib.request import proxy_bypass_environment  # type: ignore[attr-defined]

from dotenv import dotenv_values
from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    PrivateAttr,
    SecretStr,
    TypeAdapter,
    ValidationError,
)
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

from bot.setting_projects import (
    DocsProject,
    ProjectEntry,
    entries_of,
    project_entries,
    served,
    unfit,
)
from bot.setting_types import (
    DATABASE_URL,
    Address,
    ContextMode,
    DatabaseUrl,
    FollowUpMode,
    Host,
    LogFormat,
    LogLevel,
    Port,
    begins,
    capitals,
    days,
    header_value,
    hosts,
    ids,
    is_loopback,
    is_unencrypted,
    passwords,
    proxy,
    signing_secret,
    small,
    sqlalchemy_url,
    unusable_certificates,
    with_slash,
    zone,
)

_OPENING = ("ALLOWED_BOTS",)
"""Without these the bot is open to fewer. Their names are not compared: ALLOWED_HOSTS is other programs'."""


class SettingsError(Exception):
    """The settings are invalid. The text lists all ``problems``; these name variables, never their values."""

    def __init__(self, text: str, problems: Sequence[str] = ()) -> None:
        super().__init__(text)
        self.problems = problems


class LoadedSettings(BaseSettings):
    """What all settings have in common: where they come from, and how their problems are told."""

    model_config = SettingsConfigDict(frozen=True, extra="ignore", hide_input_in_errors=True)

    _warnings: tuple[str, ...] = PrivateAttr(default=())

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Use only the values that ``load`` passes, so that tests and the sandbox control all settings."""
        del settings_cls, env_settings, dotenv_settings, file_secret_settings
        return (init_settings,)

    @classmethod
    def load(cls, env: Mapping[str, str] | None = None, env_file: Path | None = Path(".env")) -> Self:
        """Return the settings from the environment, which takes precedence, and the file.

        Raises SettingsError when they are invalid.
        """
        found = _read(env_file)
        given = os.environ if env is None else env
        found |= {key.upper(): value.strip() for key, value in given.items() if value.strip()}
        names = cls.variables()
        problems: list[dict[str, Any]] = [
            {"type": "missing", "loc": (name,), "msg": ""}
            for name in cls._required(found)
            if name not in found
        ]
        settings = None
        try:
            settings = cls.model_validate({name.lower(): found[name] for name in names if name in found})
        except ValidationError as error:
            problems += [dict(each) for each in error.errors(include_input=False)]
        problems.sort(key=lambda problem: names.index(_variable(problem)))
        wrong = [*(_line(problem, found, names) for problem in problems), *_unencrypted(found, names)]
        wrong += cls._misfits(found)
        if wrong or settings is None:
            lines = [f"  - {line}" for line in wrong]
            said = ["These settings cannot work:", *lines, "See .env.example and docs/settings.md."]
            raise SettingsError("\n".join(said), wrong)
        settings._warnings = tuple(_suspicions(found, names))
        return settings

    @classmethod
    def chosen(cls, name: str, env_file: Path | None = Path(".env")) -> str:
        """Return one variable as it was given, also when others are wrong; empty when it was not given."""
        try:
            found = _read(env_file)
        except SettingsError:
            found = {}
        return os.environ.get(name, "").strip() or found.get(name, "")

    @classmethod
    def variables(cls) -> list[str]:
        """Return the names of all variables, in the order of docs/settings.md."""
        return [name.upper() for name in cls.model_fields]

    @classmethod
    def _required(cls, found: Mapping[str, str]) -> Sequence[str]:
        """Return the variables that are required because of what others say."""
        del found
        return ()

    @classmethod
    def _misfits(cls, found: Mapping[str, str]) -> list[str]:
        del found
        return []

    def warnings(self) -> tuple[str, ...]:
        """Return warnings about probable mistakes, a line each; they name variables, never their values."""
        return self._warnings


class DatabaseSettings(LoadedSettings):
    """The settings of the database, for commands that use nothing else."""

    database_url: DatabaseUrl = SecretStr(DATABASE_URL)

    @property
    def sqlalchemy_url(self) -> str:
        """Return the database URL for SQLAlchemy; it may contain a password."""
        return sqlalchemy_url(self.database_url.get_secret_value())


class DocsSettings(LoadedSettings):
    """The settings of the docs service, for commands that do not use Slack."""

    docs_api_url: Address | None = None
    docs_api_key: Annotated[SecretStr, AfterValidator(header_value)] | None = None
    docs_project_id: str | None = None
    docs_projects: Annotated[tuple[ProjectEntry, ...], BeforeValidator(project_entries)] = ()
    https_proxy: Annotated[SecretStr, AfterValidator(proxy)] | None = None
    no_proxy: str = ""
    allow_http: bool = False

    @classmethod
    def _required(cls, found: Mapping[str, str]) -> Sequence[str]:
        return () if "DOCS_PROJECTS" in found else ("DOCS_API_URL", "DOCS_API_KEY", "DOCS_PROJECT_ID")

    @classmethod
    def _misfits(cls, found: Mapping[str, str]) -> list[str]:
        return [*unusable_certificates(found), *unfit(found)]

    @property
    def projects(self) -> tuple[DocsProject, ...]:
        """Return the projects that the bot serves, the default first. The id of a single one is its name."""
        url, key, one = (
            self.docs_api_url or "",
            self.docs_api_key or SecretStr(""),
            self.docs_project_id or "",
        )
        return served(self.docs_projects, one, url, key) or (DocsProject(one, one, one, url, key),)

    def proxy_for(self, address: str) -> str | None:
        """Return the proxy through which an address is called; None for a direct call.

        The proxy is for https and wss only, and never for this machine. The result may hold a password.
        """
        parts = urlsplit(address)
        host = parts.hostname or ""
        if self.https_proxy is None or parts.scheme not in ("https", "wss") or is_loopback(host):
            return None
        bypassed = proxy_bypass_environment(parts.netloc, {"no": self.no_proxy})
        return None if bypassed else self.https_proxy.get_secret_value()


class Settings(DocsSettings):
    """Every setting. Field names are the variables' names in lower case; docs/settings.md explains each."""

    slack_bot_token: Annotated[SecretStr, begins("xoxb-")]
    slack_app_token: Annotated[SecretStr, begins("xapp-")] | None = None
    slack_signing_secret: Annotated[SecretStr, AfterValidator(signing_secret)] | None = None
    slack_api_url: Annotated[Address, AfterValidator(with_slash)] = "https://slack.com/api/"
    port: Port = 3000
    host: Host = "127.0.0.1"
    health_port: Port = 3001
    health_host: Host = "127.0.0.1"
    uses_an_hour: Annotated[int, Field(ge=1)] = 100
    waiting_per_person: Annotated[int, Field(ge=1, le=1_000)] = 10
    remind_after_days: Annotated[int, Field(ge=0, le=90)] = 3
    analytics_calls_an_hour: Annotated[int, Field(ge=1)] = 100
    analytics_zone: Annotated[str, AfterValidator(zone)] = "UTC"
    database_url: DatabaseUrl = SecretStr(DATABASE_URL)
    database_connections: Annotated[int, Field(ge=1, le=100)] = 5
    keep_days: Annotated[int, AfterValidator(days)] = 180
    poll_min_seconds: Annotated[float, Field(gt=0, le=3600)] = 10.0
    poll_max_seconds: Annotated[float, Field(gt=0, le=86_400)] = 60.0
    follow_ups: Annotated[FollowUpMode, BeforeValidator(small)] = FollowUpMode.REPLIES
    context: Annotated[ContextMode, BeforeValidator(small)] = ContextMode.THREAD
    prompt_signature: bool = True
    allowed_channels: Annotated[frozenset[str], BeforeValidator(ids("C", "G", "D"))] = frozenset()
    allowed_users: Annotated[frozenset[str], BeforeValidator(ids("U", "W"))] = frozenset()
    allowed_user_groups: Annotated[frozenset[str], BeforeValidator(ids("S"))] = frozenset()
    allowed_bots: Annotated[frozenset[str], BeforeValidator(ids("A", "U", "W"))] = frozenset()
    admins: Annotated[frozenset[str], BeforeValidator(ids("U", "W"))] = frozenset()
    allowed_link_hosts: Annotated[frozenset[str], BeforeValidator(hosts)] = frozenset()
    log_level: Annotated[LogLevel, BeforeValidator(capitals)] = LogLevel.INFO
    log_format: Annotated[LogFormat, BeforeValidator(small)] = LogFormat.AUTO

    @classmethod
    def variables(cls) -> list[str]:
        """Return the names of all variables, in the order of docs/settings.md."""
        docs = DocsSettings.variables()
        own = [name for name in super().variables() if name not in docs]
        place = own.index("HEALTH_HOST") + 1
        return [*own[:place], *docs, *own[place:]]

    @classmethod
    def _misfits(cls, found: Mapping[str, str]) -> list[str]:
        return [*super()._misfits(found), *_misfits(found)]

    @property
    def socket_mode(self) -> bool:
        """Return whether requests come through Socket Mode rather than over HTTP."""
        return self.slack_app_token is not None

    @property
    def sqlalchemy_url(self) -> str:
        """Return the database URL for SQLAlchemy; it may contain a password."""
        return sqlalchemy_url(self.database_url.get_secret_value())

    def secrets(self) -> list[str]:
        """Return every secret value, so that the logs can hide them."""
        from sqlalchemy.engine import make_url

        secrets = [self.slack_bot_token, self.slack_app_token, self.slack_signing_secret, self.docs_api_key]
        secrets += [project.key for project in self.docs_projects]
        values = [secret.get_secret_value() for secret in secrets if secret is not None]
        if self.https_proxy is not None:
            values += passwords(make_url(self.https_proxy.get_secret_value()))
        return [*values, *passwords(make_url(self.sqlalchemy_url))]


def _read(env_file: Path | None) -> dict[str, str]:
    if env_file is None or not env_file.is_file():
        return {}
    try:
        values = dotenv_values(env_file)
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"{env_file} cannot be read ({type(error).__name__}).") from None
    return {key.upper(): value.strip() for key, value in values.items() if value and value.strip()}


def _misfits(found: Mapping[str, str]) -> list[str]:
    """Return the problems that concern several settings together."""
    wrong = _open_to_all(found)
    if not {"SLACK_APP_TOKEN", "SLACK_SIGNING_SECRET"} & found.keys():
        wrong.append(
            "SLACK_APP_TOKEN (for Socket Mode) or SLACK_SIGNING_SECRET (for HTTP) is missing: "
            "one of them must be set"
        )
    if _forgets(found):
        wrong.append(
            "DATABASE_URL is a SQLite, and this host (DYNO is set) forgets its disk at every restart: "
            "give a PostgreSQL"
        )
    fields = Settings.model_fields
    port, health_port = (
        found.get(name, str(fields[name.lower()].default)) for name in ("PORT", "HEALTH_PORT")
    )
    if port == health_port != "0" and "SLACK_APP_TOKEN" not in found:
        wrong.append("PORT and HEALTH_PORT must differ")
    try:
        least, most = (
            float(found.get(name, fields[name.lower()].default))
            for name in ("POLL_MIN_SECONDS", "POLL_MAX_SECONDS")
        )
    except ValueError:
        return wrong  # the setting itself is reported as invalid
    if least > most:
        wrong.append("POLL_MIN_SECONDS must not be greater than POLL_MAX_SECONDS")
    return wrong


def _open_to_all(found: Mapping[str, str]) -> list[str]:
    """Return misspelt ALLOWED_… settings, which would otherwise leave the bot open to everybody."""
    names = [name.upper() for name in Settings.model_fields]
    missing = [name for name in names if name.startswith("ALLOWED_") and name not in (*found, *_OPENING)]
    near = {name: _near(name, found, names) for name in missing}
    return [
        f"{given} is no setting (did you mean {name}?), so the bot would be open to all"
        for name, given in near.items()
        if given
    ]


def _forgets(found: Mapping[str, str]) -> bool:
    """Return whether the database is a SQLite file on a Heroku dyno, whose disk is lost at each restart.

    https://devcenter.heroku.com/articles/dynos
    """
    if "DYNO" not in found:
        return False
    default: SecretStr = Settings.model_fields["database_url"].default
    try:
        url = sqlalchemy_url(found.get("DATABASE_URL", default.get_secret_value()))
    except ValueError:
        return False  # the setting itself is reported as invalid
    return url.startswith("sqlite")


def _is_on(name: str, found: Mapping[str, str]) -> bool:
    try:
        return TypeAdapter(bool).validate_python(found.get(name, False))
    except ValidationError:
        return True  # the setting itself is reported as invalid


def _unencrypted(found: Mapping[str, str], names: list[str]) -> list[str]:
    """Return the addresses on other machines that are reached without encryption, unless that is allowed."""
    if _is_on("ALLOW_HTTP", found):
        return []
    ours: list[str] = [name for name in ("SLACK_API_URL", "DOCS_API_URL") if name in names]
    addresses = {name: found.get(name, "") for name in ours}
    addresses |= {f"DOCS_PROJECTS {each.name}": each.address or "" for each in entries_of(found)}
    return [
        f"{name} begins with http://, so keys and texts could be read on the way: "
        "use https://, or set ALLOW_HTTP=true"
        for name, address in addresses.items()
        if is_unencrypted(address)
    ]


def _suspicions(found: Mapping[str, str], names: list[str]) -> list[str]:
    # Short names are similar to too many others.
    missing = [name for name in names if name not in (*found, *_OPENING) and len(name) >= 8]
    near = {name: _near(name, found, names) for name in missing}
    lines = [f"{given} is no setting: did you mean {name}?" for name, given in near.items() if given]
    if "SLACK_BOT_TOKEN" in names and {"SLACK_CLIENT_ID", "SLACK_CLIENT_SECRET"} <= found.keys():
        lines.append(
            "SLACK_CLIENT_ID and SLACK_CLIENT_SECRET are not used: this bot has one workspace's token"
        )
    return lines


def _near(name: str, found: Mapping[str, str], names: list[str]) -> str | None:
    near = difflib.get_close_matches(name, [key for key in found if key not in names], n=1, cutoff=0.85)
    return near[0] if near else None


def _variable(problem: dict[str, Any]) -> str:
    return str(problem["loc"][0]).upper()


def _line(problem: dict[str, Any], found: Mapping[str, str], names: list[str]) -> str:
    words = str(problem["msg"]).removeprefix("Value error, ")
    name = _variable(problem)
    if problem["type"] != "missing":
        return f"{name} {words[0].lower()}{words[1:]}"
    near = _near(name, found, names)
    return f"{name} is missing" + (f" (there is {near}: did you mean that?)" if near else "")
