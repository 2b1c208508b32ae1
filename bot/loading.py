"""The sources of settings, and messages about wrong values."""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Self

from pydantic import ValidationError
from pydantic_settings import (
    BaseSettings,
    DotEnvSettingsSource,
    EnvSettingsSource,
    SettingsConfigDict,
)

_NOT_COMPARED = "allowed_bots"
"""ALLOWED_HOSTS, which is similar, is other programs'.

Without ALLOWED_BOTS the bot is open to fewer.
"""


class SettingsError(Exception):
    """The settings are invalid.

    The text lists all ``problems``, which name variables and never their values.
    """

    def __init__(self, text: str, problems: Sequence[str] = ()) -> None:
        super().__init__(text)
        self.problems = problems


def words_of(problem: Mapping[str, Any]) -> str:
    """Return pydantic's or a validator's message about a value, without the value."""
    message = str(problem["msg"]).removeprefix("Value error, ")
    return "is missing" if problem["type"] == "missing" else f"{message[0].lower()}{message[1:]}"


class _Variables(EnvSettingsSource):
    """The environment, and the file under it.

    Blanks around values are cut; a blank value is missing.
    """

    def __init__(
        self, cls: type[BaseSettings], env: Mapping[str, str] | None, env_file: Path | None
    ) -> None:
        self._both = (
            DotEnvSettingsSource(cls, env_file).env_vars,
            os.environ if env is None else env,
        )
        super().__init__(cls)

    def _load_env_vars(self) -> dict[str, str | None]:
        values = dict[str, str | None]()
        for source in self._both:
            for name, value in source.items():
                stripped = (value or "").strip()
                if stripped:
                    values[name.lower()] = stripped
        return values

    def misspelt(self) -> dict[str, str]:
        """Return the misspelt names of missing settings.

        Such a name is that of a variable that is similar to a setting's and is none.
        """
        names = self.settings_cls.model_fields
        others = [name for name in self.env_vars if name not in names]
        misspelt = dict[str, str]()
        for name in names:
            # Short names are similar to too many others.
            if name in self.env_vars or name == _NOT_COMPARED or len(name) < 6:
                continue
            near = difflib.get_close_matches(name, others, n=1, cutoff=0.85)
            if near:
                misspelt[name.upper()] = near[0].upper()
        return misspelt


class LoadedSettings(BaseSettings):
    """Base class of all settings: their sources, and messages about wrong values."""

    model_config = SettingsConfigDict(
        frozen=True, hide_input_in_errors=True, enable_decoding=False, validate_default=False
    )
    _warnings: tuple[str, ...] = ()

    @classmethod
    def settings_customise_sources(cls, *_cls: Any, **sources: Any) -> tuple[Any, ...]:
        """Use only the values that ``load`` passes.

        So tests and the sandbox control all settings.
        """
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
        values = source()
        misspelt = source.misspelt()
        wrong = dict[str, str]()
        try:
            settings = cls(**values)
        except ValidationError as error:
            for problem in error.errors(include_input=False):
                wrong[str(problem["loc"][0]).upper()] = words_of(problem)
            right = {name: value for name, value in values.items() if name.upper() not in wrong}
            settings = cls(**right)
        lines = [f"{name} {words}" for name, words in wrong.items()]
        misfits = settings._misfits(source.env_vars)
        lines += [line for line in misfits if line.split()[0] not in wrong]
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
            lines.sort(key=cls._place_of)
            listed = "".join(f"  - {line}\n" for line in lines)
            message = f"These settings cannot work:\n{listed}See .env.example and docs/settings.md."
            raise SettingsError(message, lines)
        unused = {"slack_client_id", "slack_client_secret"}
        if unused <= source.env_vars.keys() and "slack_bot_token" in values:
            warnings.append(
                "SLACK_CLIENT_ID and SLACK_CLIENT_SECRET are not used: the bot has one token"
            )
        settings._warnings = tuple(warnings)
        return settings

    @classmethod
    def _place_of(cls, line: str) -> int:
        """Return the place of a problem: that of its variable in docs/settings.md."""
        name = line.split()[0]
        return [*cls.variables(), name].index(name)

    @classmethod
    def variables(cls) -> list[str]:
        """Return the names of all variables, in the order of docs/settings.md."""
        return [name.upper() for name in cls.model_fields]

    def warnings(self) -> tuple[str, ...]:
        """Return warnings about probable mistakes, a line each.

        They name variables, never their values.
        """
        return self._warnings

    def _misfits(self, _settings: Mapping[str, str | None]) -> Iterator[str]:
        """Return missing or conflicting settings.

        A wrong value is replaced by its default here.
        """
        yield from ()
