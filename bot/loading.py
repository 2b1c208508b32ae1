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
"""ALLOWED_HOSTS, which is similar, is other programs'. A missing ALLOWED_BOTS opens nothing."""


class SettingsError(Exception):
    """The settings are invalid. The text lists all problems."""

    def __init__(self, text: str, problems: Sequence[str] = ()) -> None:
        """``problems`` name variables, never their values."""
        super().__init__(text)
        self.problems = problems


def explain_problem(problem: Mapping[str, Any]) -> str:
    """Return pydantic's or a validator's message about a value, without the value."""
    if problem["type"] == "missing":
        return "is missing"
    message = str(problem["msg"]).removeprefix("Value error, ")
    return f"{message[0].lower()}{message[1:]}"


class _Variables(EnvSettingsSource):
    """The variables of the environment, then of a file. A blank value counts as missing."""

    def __init__(
        self, cls: type[BaseSettings], env: Mapping[str, str] | None, env_file: Path | None
    ) -> None:
        self._of_file = DotEnvSettingsSource(cls, env_file).env_vars
        self._of_environment = os.environ if env is None else env
        super().__init__(cls)

    def _load_env_vars(self) -> dict[str, str | None]:
        values: dict[str, str | None] = {}
        for variables in (self._of_file, self._of_environment):
            for name, value in variables.items():
                stripped = (value or "").strip()
                if stripped:
                    values[name.lower()] = stripped
        return values

    def misspelt(self) -> dict[str, str]:
        """Return for each missing setting the similar name of a variable that is no setting."""
        names = self.settings_cls.model_fields
        others = [name for name in self.env_vars if name not in names]
        similar: dict[str, str] = {}
        for name in names:
            # Short names are similar to too many others.
            if name in self.env_vars or name == _NOT_COMPARED or len(name) < 6:
                continue
            matches = difflib.get_close_matches(name, others, n=1, cutoff=0.85)
            if matches:
                similar[name.upper()] = matches[0].upper()
        return similar


class LoadedSettings(BaseSettings):
    """Base class of all settings: their sources, and messages about wrong values."""

    model_config = SettingsConfigDict(
        frozen=True, hide_input_in_errors=True, enable_decoding=False, validate_default=False
    )
    _warnings: tuple[str, ...] = ()
    _former: ClassVar[Mapping[str, str]] = {}
    """Settings of earlier versions, with the fixed values that replace them."""

    @classmethod
    def settings_customise_sources(cls, *_cls: Any, **sources: Any) -> tuple[Any, ...]:
        """Use only the values that ``load`` passes, so that tests control all settings."""
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
        settings, wrong = cls._read(source())
        problems = [f"{name} {text}" for name, text in wrong.items()]
        others = settings._find_problems(source.env_vars)
        problems += [problem for problem in others if problem.split()[0] not in wrong]
        warnings: list[str] = []
        for name, similar in source.misspelt().items():
            missing = f"{name} is missing"
            if missing in problems:
                at = problems.index(missing)
                problems[at] += f" (there is {similar}: did you mean that?)"
            elif name.startswith("ALLOWED_"):
                text = f"is no setting (did you mean {name}?), so the bot would be open to all"
                problems.append(f"{similar} {text}")
            else:
                warnings.append(f"{similar} is no setting: did you mean {name}?")
        if problems:
            raise _make_settings_error(sorted(problems, key=cls._find_place))
        settings._warnings = (*warnings, *cls._warn_of_unused(source.env_vars))
        return settings

    @classmethod
    def _read(cls, values: dict[str, Any]) -> tuple[Self, dict[str, str]]:
        """Return the settings, and the message about each wrong value, which has its default."""
        try:
            return cls(**values), {}
        except ValidationError as error:
            wrong = {
                str(problem["loc"][0]).upper(): explain_problem(problem)
                for problem in error.errors(include_input=False)
            }
        right = {name: value for name, value in values.items() if name.upper() not in wrong}
        return cls(**right), wrong

    @classmethod
    def _find_place(cls, problem: str) -> int:
        """Return the place of a problem in the order of docs/settings.md; others come last."""
        name = problem.split()[0]
        variables = cls.variables()
        return variables.index(name) if name in variables else len(variables)

    @classmethod
    def _warn_of_unused(cls, values: Mapping[str, str | None]) -> Iterator[str]:
        """Yield a warning for each variable that has no effect."""
        oauth = {"slack_client_id", "slack_client_secret"}
        if oauth <= values.keys() and "slack_bot_token" in values:
            yield "SLACK_CLIENT_ID and SLACK_CLIENT_SECRET are not used: the bot has one token"
        for name, instead in cls._former.items():
            if name.lower() in values:
                yield f"{name} no longer does anything, take it out: {instead}"

    @classmethod
    def variables(cls) -> list[str]:
        """Return the names of all variables, in the order of docs/settings.md."""
        return [name.upper() for name in cls.model_fields]

    def warnings(self) -> tuple[str, ...]:
        """Return warnings about probable mistakes, which name variables, never their values."""
        return self._warnings

    def _find_problems(self, values: Mapping[str, str | None]) -> Iterator[str]:
        """Yield missing or conflicting settings. A wrong value has its default here.

        ``values`` has all variables that are set, by their names in lower case.
        """
        del values
        yield from ()


def _make_settings_error(problems: Sequence[str]) -> SettingsError:
    listed = "".join(f"  - {problem}\n" for problem in problems)
    text = f"These settings cannot work:\n{listed}See .env.example and docs/settings.md."
    return SettingsError(text, problems)
