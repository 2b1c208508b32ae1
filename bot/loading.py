"""Sources of settings, the environment and a ``.env`` file, and messages about wrong values."""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Self

from pydantic import ValidationError
from pydantic_settings import (
    BaseSettings,
    DotEnvSettingsSource,
    EnvSettingsSource,
    SettingsConfigDict,
)

_NOT_COMPARED = "allowed_bots"
"""ALLOWED_HOSTS, which is similar, is other programs'. Without ALLOWED_BOTS the bot is open to fewer."""


class SettingsError(Exception):
    """The settings are invalid. The text lists all ``problems``; these name variables, never their values."""

    def __init__(self, text: str, problems: Sequence[str] = ()) -> None:
        super().__init__(text)
        self.problems = problems


def words_of(problem: Mapping[str, Any]) -> str:
    """Return pydantic's or a validator's message about a value, without the value."""
    message = str(problem["msg"]).removeprefix("Value error, ")
    return "is missing" if problem["type"] == "missing" else f"{message[0].lower()}{message[1:]}"


class _Variables(EnvSettingsSource):
    """The environment, and the file under it. Blanks around values are cut; a blank value is missing."""

    def __init__(
        self, cls: type[BaseSettings], env: Mapping[str, str] | None, env_file: Path | None
    ) -> None:
        self._both = (
            DotEnvSettingsSource(cls, env_file).env_vars,
            os.environ if env is None else env,
        )
        super().__init__(cls)

    def _load_env_vars(self) -> dict[str, str | None]:
        values = (
            (name, (value or "").strip()) for each in self._both for name, value in each.items()
        )
        return {name.lower(): value for name, value in values if value}

    def misspelt(self) -> dict[str, str]:
        """Return by each setting that is missing the similar name of a variable that is no setting."""
        names = self.settings_cls.model_fields
        others = [name for name in self.env_vars if name not in names]
        # Short names are similar to too many others.
        missing = [
            name for name in names if name not in (*self.env_vars, _NOT_COMPARED) and len(name) >= 6
        ]
        near = {name: difflib.get_close_matches(name, others, n=1, cutoff=0.85) for name in missing}
        return {name.upper(): matches[0].upper() for name, matches in near.items() if matches}


class LoadedSettings(BaseSettings):
    """Base class of all settings: their sources, and messages about wrong values."""

    model_config = SettingsConfigDict(
        frozen=True, hide_input_in_errors=True, enable_decoding=False, validate_default=False
    )
    _warnings: tuple[str, ...] = ()
    _former: ClassVar[Mapping[str, str]] = {}
    """Settings of before, with what is fixed in their place."""

    @classmethod
    def settings_customise_sources(cls, *_cls: Any, **sources: Any) -> tuple[Any, ...]:
        """Use only the values that ``load`` passes, so that tests and the sandbox control all settings."""
        return (sources["init_settings"],)

    @classmethod
    def load(
        cls, env: Mapping[str, str] | None = None, env_file: Path | None = Path(".env")
    ) -> Self:
        """Return the settings from the environment, which takes precedence, and the file.

        Raises SettingsError when they are invalid.
        """
        try:
            source = _Variables(cls, env, env_file)
        except (OSError, UnicodeDecodeError) as error:
            raise SettingsError(f"{env_file} cannot be read ({type(error).__name__}).") from None
        values, misspelt, wrong = source(), source.misspelt(), dict[str, str]()
        try:
            settings = cls(**values)
        except ValidationError as error:
            wrong = {
                str(problem["loc"][0]).upper(): words_of(problem)
                for problem in error.errors(include_input=False)
            }
            settings = cls(
                **{name: value for name, value in values.items() if name.upper() not in wrong}
            )
        lines = [f"{name} {words}" for name, words in wrong.items()]
        lines += [
            line for line in settings._misfits(source.env_vars) if line.split()[0] not in wrong
        ]
        warnings: list[str] = []
        for name, near in misspelt.items():
            if f"{name} is missing" in lines:
                lines[lines.index(f"{name} is missing")] += (
                    f" (there is {near}: did you mean that?)"
                )
            elif name.startswith("ALLOWED_"):
                lines.append(
                    f"{near} is no setting (did you mean {name}?), so the bot would be open to all"
                )
            else:
                warnings.append(f"{near} is no setting: did you mean {name}?")
        if lines:
            lines.sort(key=lambda line: [*cls.variables(), line.split()[0]].index(line.split()[0]))
            listed = "".join(f"  - {line}\n" for line in lines)
            message = f"These settings cannot work:\n{listed}See .env.example and docs/settings.md."
            raise SettingsError(message, lines)
        unused = {"slack_client_id", "slack_client_secret"}
        if unused <= source.env_vars.keys() and "slack_bot_token" in values:
            warnings.append(
                "SLACK_CLIENT_ID and SLACK_CLIENT_SECRET are not used: the bot has one token"
            )
        for name, instead in cls._former.items():
            if name.lower() in source.env_vars:
                warnings.append(f"{name} no longer does anything, take it out: {instead}")
        settings._warnings = tuple(warnings)
        return settings

    @classmethod
    def variables(cls) -> list[str]:
        """Return the names of all variables, in the order of docs/settings.md."""
        return [name.upper() for name in cls.model_fields]

    def warnings(self) -> tuple[str, ...]:
        """Return warnings about probable mistakes, a line each; they name variables, never their values."""
        return self._warnings

    def _misfits(self, _settings: Mapping[str, str | None]) -> Iterator[str]:
        """Return missing or conflicting settings. A wrong value is replaced by its default here."""
        yield from ()
