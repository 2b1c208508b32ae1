"""The settings: read once from the environment or a ``.env`` file, checked whole, and handed on as values."""

from __future__ import annotations

import difflib
import os
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Self
from urllib.parse import urlsplit

from dotenv import dotenv_values
from pydantic import AfterValidator, Field, SecretStr, ValidationError, model_validator
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict


class SettingsError(Exception):
    """What is wrong with the settings, as one readable list; it names variables and never their values."""


class FollowUpMode(StrEnum):
    """Which replies in a job's thread are follow-ups."""

    REPLIES = "replies"
    MENTIONS = "mentions"


class LogLevel(StrEnum):
    """How much is logged."""

    DEBUG = "DEBUG"
    INFO = "INFO"
    WARNING = "WARNING"
    ERROR = "ERROR"


class LogFormat(StrEnum):
    """How log lines look; ``auto`` is ``console`` on a terminal and ``json`` elsewhere."""

    AUTO = "auto"
    CONSOLE = "console"
    JSON = "json"


def _address(value: str) -> str:
    try:
        parts = urlsplit(value)
        host, user = parts.hostname, parts.username
    except ValueError:
        raise ValueError("is not an address") from None
    if parts.scheme not in ("http", "https") or not host:
        raise ValueError("must be an address that begins with https:// or http://")
    if user is not None or parts.password is not None:
        raise ValueError("must not carry a user name or password")
    if parts.query or parts.fragment:
        raise ValueError("must not carry a query or a fragment")
    return value


def _with_slash(value: str) -> str:
    return value if value.endswith("/") else f"{value}/"


def _begins(prefix: str) -> AfterValidator:
    def check(value: SecretStr) -> SecretStr:
        if not value.get_secret_value().startswith(prefix):
            raise ValueError(f"must begin with {prefix}")
        return value

    return AfterValidator(check)


def _database(value: SecretStr) -> SecretStr:
    sqlalchemy_url(value.get_secret_value())
    return value


def sqlalchemy_url(value: str) -> str:
    """The database's address as SQLAlchemy wants it: hosts give ``postgres://``, people ``sqlite:///path``."""
    if value in (":memory:", "sqlite://", "sqlite:///:memory:"):
        return "sqlite+aiosqlite:///:memory:"
    scheme, separator, rest = value.partition("://")
    drivers = {
        "sqlite": "sqlite+aiosqlite",
        "postgres": "postgresql+psycopg",
        "postgresql": "postgresql+psycopg",
    }
    if not separator or scheme.lower() not in drivers:
        raise ValueError("must begin with sqlite:/// or postgres://")
    return f"{drivers[scheme.lower()]}://{rest}"


Address = Annotated[str, AfterValidator(_address)]


class Settings(BaseSettings):
    """Every setting. Field names are the variables' names in lower case; the README says what each means."""

    model_config = SettingsConfigDict(frozen=True, extra="ignore", hide_input_in_errors=True)

    slack_bot_token: Annotated[SecretStr, _begins("xoxb-")]
    slack_app_token: Annotated[SecretStr, _begins("xapp-")] | None = None
    slack_signing_secret: SecretStr | None = None
    slack_api_url: Annotated[Address, AfterValidator(_with_slash)] = "https://slack.com/api/"
    port: Annotated[int, Field(ge=0, le=65_535)] = 3000
    docs_api_url: Address
    docs_api_key: SecretStr
    docs_project_id: str
    uses_an_hour: Annotated[int, Field(ge=1)] = 100
    database_url: Annotated[SecretStr, AfterValidator(_database)] = SecretStr("sqlite:///var/docs-bot.db")
    poll_min_seconds: Annotated[float, Field(gt=0, le=3600)] = 2.0
    poll_max_seconds: Annotated[float, Field(gt=0, le=86_400)] = 60.0
    follow_ups: FollowUpMode = FollowUpMode.REPLIES
    log_level: LogLevel = LogLevel.INFO
    log_format: LogFormat = LogFormat.AUTO

    @model_validator(mode="after")
    def _fit_together(self) -> Self:
        if self.slack_app_token is None and self.slack_signing_secret is None:
            raise ValueError(
                "SLACK_APP_TOKEN (for Socket Mode) or SLACK_SIGNING_SECRET (for HTTP) is missing: "
                "one of them must be set"
            )
        if self.poll_min_seconds > self.poll_max_seconds:
            raise ValueError("POLL_MIN_SECONDS must not be greater than POLL_MAX_SECONDS")
        return self

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Only what ``load`` found: so a test, or the sandbox, decides about everything."""
        del settings_cls, env_settings, dotenv_settings, file_secret_settings
        return (init_settings,)

    @classmethod
    def load(cls, env: Mapping[str, str] | None = None, env_file: Path | None = Path(".env")) -> Self:
        """From the environment (which wins) and the file; SettingsError when they cannot work."""
        found: dict[str, str] = {}
        if env_file is not None and env_file.is_file():
            found |= {key.upper(): value for key, value in dotenv_values(env_file).items() if value}
        given = os.environ if env is None else env
        found |= {key.upper(): value for key, value in given.items() if value.strip()}
        names = cls.variables()
        try:
            return cls.model_validate({name.lower(): found[name].strip() for name in names if name in found})
        except ValidationError as error:
            raise SettingsError(_explain(error, found, names)) from None

    @classmethod
    def variables(cls) -> list[str]:
        """The names of all variables, in the order of the README."""
        return [name.upper() for name in cls.model_fields]

    @property
    def socket_mode(self) -> bool:
        """Whether requests come through a socket that we open, rather than over HTTP."""
        return self.slack_app_token is not None

    @property
    def sqlalchemy_url(self) -> str:
        """The database for SQLAlchemy; may hold a password."""
        return sqlalchemy_url(self.database_url.get_secret_value())

    def secrets(self) -> list[str]:
        """Every secret value, so that the logs can leave them out."""
        secrets = (self.slack_bot_token, self.slack_app_token, self.slack_signing_secret, self.docs_api_key)
        values = [secret.get_secret_value() for secret in secrets if secret is not None]
        password = urlsplit(self.database_url.get_secret_value()).password
        return [*values, password] if password else values


def _explain(error: ValidationError, found: Mapping[str, str], names: list[str]) -> str:
    lines = [f"  - {_line(dict(problem), found, names)}" for problem in error.errors(include_input=False)]
    return "\n".join(["These settings cannot work:", *lines, "See .env.example and the README."])


def _line(problem: dict[str, Any], found: Mapping[str, str], names: list[str]) -> str:
    words = str(problem["msg"]).removeprefix("Value error, ")
    if not problem["loc"]:
        return words
    name = str(problem["loc"][0]).upper()
    if problem["type"] != "missing":
        return f"{name} {words[0].lower()}{words[1:]}"
    near = difflib.get_close_matches(name, [key for key in found if key not in names], n=1, cutoff=0.8)
    return f"{name} is missing" + (f" (there is {near[0]}: did you mean that?)" if near else "")
