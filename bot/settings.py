"""The settings, read once from the environment or a ``.env`` file and validated together."""

from __future__ import annotations

import json
import re
import ssl
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Annotated, ClassVar, Literal
from urllib.parse import SplitResult, quote, unquote, urlsplit
from urllib.request import proxy_bypass_environment  # type: ignore[attr-defined]
from zoneinfo import ZoneInfo

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    SecretStr,
    ValidationError,
)

from bot.ids import ChannelId, UserId
from bot.loading import LoadedSettings, explain_problem

MAX_PROJECTS = 20
_PROJECT_NAME_PATTERN = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,28}[a-z0-9])?")
_MAX_LABEL_LENGTH = 60
_THIS_MACHINE_PATTERN = re.compile(r"localhost|::1|127(?:\.\d{1,3}){3}")
_TOKENS = {
    "xoxb-": "a bot token, which belongs in SLACK_BOT_TOKEN",
    "xapp-": "an app token, which belongs in SLACK_APP_TOKEN",
    "xoxp-": "a user's token",
    "xoxe": "a token that expires",
}
"""The kinds of Slack's tokens: https://docs.slack.dev/authentication/tokens."""


def _validate_secret(check: Callable[[str], object]) -> AfterValidator:
    """Return a validator that applies a check to a secret, whose ValueError quotes nothing."""

    def validate(value: SecretStr) -> SecretStr:
        check(value.get_secret_value())
        return value

    return AfterValidator(validate)


def _check_header_value(secret: str) -> None:
    """Check that a secret can be sent in a header."""
    if secret[:1] in ("'", '"') and secret[:1] == secret[-1:]:
        raise ValueError(
            "stands in quotes, which `docker run --env-file` keeps: write it without them"
        )
    if re.search(r"\s", secret):
        raise ValueError("has a blank or a line end in it: copy it again")
    if not re.fullmatch(r"[!-~]*", secret):
        raise ValueError("has a sign in it that is not ASCII: copy it again")


def _validate_token(prefix: str) -> AfterValidator:
    """Return a validator of Slack's tokens that begin with ``prefix``.

    The signing secret is no token and has an empty prefix.
    """

    def check_token(token: str) -> None:
        _check_header_value(token)
        kind = ""
        for start, name in _TOKENS.items():
            if token.startswith(start):
                kind = f"; this is {name}"
                break
        if not prefix and kind:
            raise ValueError(f"must be the Signing Secret of the app{kind}")
        if not token.startswith(prefix):
            raise ValueError(f"must begin with {prefix}{kind}")
        if token == prefix:
            raise ValueError(f"has nothing after {prefix}")

    return _validate_secret(check_token)


def _parse_http(value: str, expected: str) -> SplitResult:
    """Return the parts of an address. Raises ValueError, which does not quote it."""
    try:
        parts = urlsplit(value)
        if parts.scheme in ("http", "https") and parts.hostname and parts.port != 0:
            return parts
    except ValueError:
        # Its own text quotes the value.
        pass
    raise ValueError(f"must be {expected}")


def _check_address(value: str) -> str:
    parts = _parse_http(value, "an address that begins with https:// or http://")
    if parts.username is not None or parts.password is not None:
        raise ValueError("must not carry a user name or password")
    if parts.query or parts.fragment:
        raise ValueError("must not carry a query or a fragment")
    return value


def _check_github(value: str) -> str:
    # Imported here, because few settings need it.
    from bot.github import site_of

    site_of(value)
    return value


def _read_host(value: str) -> str:
    address = "127.0.0.1" if value == "localhost" else value.strip("[]")
    try:
        return str(ip_address(address))
    except ValueError:
        raise ValueError(
            "must be an IP address of this machine, such as 0.0.0.0 or 127.0.0.1"
        ) from None


def _check_database(value: str) -> None:
    """Check the address of a database. No error quotes it, because it may hold a password."""
    # Imported here, because few settings need it.
    from sqlalchemy.engine import make_url
    from sqlalchemy.exc import ArgumentError

    address = sqlalchemy_url(value)
    _, _, place = value.partition("://")
    host, _, _ = place.partition("/")
    if host.count("@") > 1:
        raise ValueError("has an @ in its user name or password: write it as %40")
    try:
        url = make_url(address)
    except (ArgumentError, ValueError):
        raise ValueError(
            "is not the address of a database, such as postgres://user:password@host/name"
        ) from None
    if url.get_backend_name() == "postgresql":
        _check_options(url.query)


def _check_options(names: Iterable[str]) -> None:
    """Check that PostgreSQL has options of these names."""
    from psycopg import ProgrammingError
    from psycopg.conninfo import make_conninfo

    for name in names:
        try:
            make_conninfo("", **{name: ""})
        except ProgrammingError:
            raise ValueError("has an option behind its ? that PostgreSQL does not have") from None


def sqlalchemy_url(value: str) -> str:
    """Return the database URL in SQLAlchemy's form, from ``postgres://…`` or ``sqlite:///path``."""
    if value in (":memory:", "sqlite://", "sqlite:///:memory:"):
        return "sqlite:///:memory:"
    scheme, separator, rest = value.partition("://")
    drivers = {
        "sqlite": "sqlite",
        "postgres": "postgresql+psycopg",
        "postgresql": "postgresql+psycopg",
    }
    if not separator or scheme.lower() not in drivers:
        raise ValueError("must begin with sqlite:/// or postgres://")
    return f"{drivers[scheme.lower()]}://{rest}"


def _is_this_machine(parts: SplitResult) -> bool:
    return _THIS_MACHINE_PATTERN.fullmatch(parts.hostname or "") is not None


def _parse_list(pattern: str, expected: str, read: Callable[[str], str] = str) -> BeforeValidator:
    """Return a parser of a list with commas or blanks between; ``read`` parses one item."""

    def parse(value: str) -> frozenset[str]:
        try:
            items = frozenset(read(item) for item in value.replace(",", " ").split())
        except UnicodeError:
            items = frozenset({""})
        if not all(re.fullmatch(pattern, item) for item in items):
            raise ValueError(f"must be {expected}")
        return items

    return BeforeValidator(parse)


def _parse_ids(letters: str) -> BeforeValidator:
    """Return a parser of Slack ids. Names are refused: they can change."""
    letters_text = " or ".join(f"{letter}…" for letter in letters)
    expected = f"ids of Slack ({letters_text}) with commas between them, not names"
    return _parse_list(f"[{letters}][A-Z0-9]*", expected)


_HOSTS = _parse_list(
    r"[a-z0-9_-]+(?:\.[a-z0-9_-]+)*",
    "names of hosts such as github.com with commas between them, not addresses",
    lambda name: name.lower().encode("idna").decode(),  # names in other scripts become Punycode
)


def _check_days(value: int) -> int:
    # Slack repeats requests within a week.
    if value != 0 and not 7 <= value <= 36_500:
        raise ValueError("must be from 7 to 36500 days, or 0 for ever")
    return value


def _read_zone(value: str) -> ZoneInfo:
    try:
        return ZoneInfo(value)
    except (LookupError, ValueError, OSError):
        raise ValueError("must be the name of a time zone such as UTC or Europe/Berlin") from None


Key = Annotated[SecretStr, _validate_secret(_check_header_value)]
Address = Annotated[str, AfterValidator(_check_address)]
_WITH_SLASH = AfterValidator(lambda url: f"{url.rstrip('/')}/")
_PROXY = _validate_secret(
    lambda url: _parse_http(url, "the address of a proxy, such as http://proxy.example:3128")
)
Port = Annotated[int, Field(ge=0, le=65_535)]
Host = Annotated[str, AfterValidator(_read_host)]
Domain = Annotated[str, Field(min_length=1, max_length=200)]


class ProjectEntry(BaseModel):
    """An entry of DOCS_PROJECTS. Without a key and an address it uses the usual ones."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    id: Annotated[str, Field(min_length=1, max_length=200)]
    key: Annotated[Key, Field(min_length=1)] | None = None
    address: Address | None = None
    label: str = ""
    assistant_key: Annotated[Key, Field(min_length=1)] | None = None
    assistant_domain: Domain | None = None


@dataclass(frozen=True, slots=True)
class SettingNames:
    """The names of the settings that apply to a project."""

    id: str = "DOCS_PROJECT_ID"
    key: str = "DOCS_API_KEY"
    address: str = "DOCS_API_URL"


@dataclass(frozen=True, slots=True)
class DocsProject:
    """A project that the bot serves, with the address and the key that are used for it."""

    name: str
    """People type it."""
    id: str
    label: str
    """People read it."""
    address: str
    key: SecretStr
    named: SettingNames = SettingNames()
    """The names of its settings."""
    assistant_key: SecretStr | None = None
    """None where ``assistant_domain`` is None."""
    assistant_domain: str | None = None


def _read_projects(text: str) -> dict[str, ProjectEntry]:
    """Parse DOCS_PROJECTS. Raises ValueError, which names entries and never quotes their values."""
    try:
        # A dict would hide an entry with the same name as another.
        members = json.loads(text, object_pairs_hook=tuple)
    except (ValueError, RecursionError):
        members = None
    if not isinstance(members, tuple):
        raise ValueError('must be a JSON object, such as {"acme": {"id": "…", "label": "Acme"}}')
    if not 1 <= len(members) <= MAX_PROJECTS:
        raise ValueError(f"must have from 1 to {MAX_PROJECTS} projects, and has {len(members)}")
    entries: dict[str, ProjectEntry] = {}
    wrong: list[str] = []
    for place, (name, fields) in enumerate(members, 1):
        try:
            entry = _read_project(name, fields)
        except ValueError as error:
            shown = f" ({name})" if _PROJECT_NAME_PATTERN.fullmatch(name) else ""
            wrong.append(f"entry {place}{shown} {error}")
            continue
        if name in entries:
            wrong.append(f"has two entries {name}")
        # Rows of the database belong to an id, not to its address.
        same = [other for other in entries if entries[other].id == entry.id]
        wrong += [f'{other} and {name} have the same "id"' for other in same]
        entries[name] = entry
    if wrong:
        raise ValueError("; ".join(wrong))
    return entries


def _read_project(name: str, fields: object) -> ProjectEntry:
    if not _PROJECT_NAME_PATTERN.fullmatch(name):
        raise ValueError(
            "needs a name of small letters, digits and hyphens, at most 30, such as acme-api"
        )
    if not isinstance(fields, tuple):
        raise ValueError('must be an object with "id", and perhaps "key", "address" and "label"')
    try:
        return ProjectEntry.model_validate(dict(fields))
    except ValidationError as error:
        problems = error.errors(include_input=False)
        if any(problem["type"] == "extra_forbidden" for problem in problems):
            # Its name is not quoted, because it might be a secret.
            names = ", ".join(ProjectEntry.model_fields)
            raise ValueError(f"has a member other than {names}") from None
        lines = [f'"{problem["loc"][0]}" {explain_problem(problem)}' for problem in problems]
        raise ValueError(", ".join(lines)) from None


class SlackSettings(LoadedSettings):
    """Slack's side, and where this process listens."""

    slack_bot_token: Annotated[SecretStr, _validate_token("xoxb-")] = SecretStr("")
    slack_app_token: Annotated[SecretStr, _validate_token("xapp-")] | None = None
    slack_signing_secret: Annotated[SecretStr, _validate_token("")] | None = None
    slack_api_url: Annotated[Address, _WITH_SLASH] = "https://slack.com/api/"
    port: Port = 3000
    host: Host = "127.0.0.1"
    health_port: Port = 3001
    health_host: Host = "127.0.0.1"

    @property
    def socket_mode(self) -> bool:
        """Return whether requests come through Socket Mode rather than over HTTP."""
        return self.slack_app_token is not None

    def _find_problems(self, values: Mapping[str, str | None]) -> Iterator[str]:
        yield from super()._find_problems(values)
        if "slack_bot_token" not in values:
            yield "SLACK_BOT_TOKEN is missing"
        if not {"slack_app_token", "slack_signing_secret"} & values.keys():
            yield "SLACK_APP_TOKEN (for Socket Mode) or SLACK_SIGNING_SECRET (for HTTP) is missing"
        if self.port == self.health_port != 0 and "slack_app_token" not in values:
            yield "PORT and HEALTH_PORT must differ"


class DocsSettings(LoadedSettings):
    """The settings of the docs service, for commands that do not use Slack."""

    docs_api_url: Address | None = None
    docs_api_key: Key | None = None
    docs_project_id: str | None = None
    docs_projects: Annotated[dict[str, ProjectEntry], BeforeValidator(_read_projects)] = {}  # noqa: RUF012
    assistant_key: Key | None = None
    assistant_domain: Domain | None = None
    https_proxy: Annotated[SecretStr, _PROXY] | None = None
    no_proxy: str = ""
    allow_http: bool = False

    @property
    def projects(self) -> tuple[DocsProject, ...]:
        """Return the projects that the bot serves, the default first.

        The id of a single project is its name.
        """
        default_id = self.docs_project_id or ""
        if not self.docs_projects:
            alone = DocsProject(
                name=default_id,
                id=default_id,
                label=default_id,
                address=self.docs_api_url or "",
                key=self.docs_api_key or SecretStr(""),
                assistant_key=self.assistant_key,
                assistant_domain=self.assistant_domain,
            )
            return (alone,)
        projects = [self._make_project(name, entry) for name, entry in self.docs_projects.items()]
        return tuple(sorted(projects, key=lambda project: project.id != default_id))

    def _make_project(self, name: str, entry: ProjectEntry) -> DocsProject:
        """Return a project of DOCS_PROJECTS, with the usual key and address where it has no own."""
        label = " ".join(entry.label.split())[:_MAX_LABEL_LENGTH].strip()
        own = [part for part in ("id", "key", "address") if getattr(entry, part)]
        return DocsProject(
            name=name,
            id=entry.id,
            label=label or name,
            address=entry.address or self.docs_api_url or "",
            key=entry.key or self.docs_api_key or SecretStr(""),
            named=SettingNames(**{part: f"the {part} of {name} in DOCS_PROJECTS" for part in own}),
            assistant_key=entry.assistant_key,
            assistant_domain=entry.assistant_domain,
        )

    def proxy_for(self, address: str) -> str | None:
        """Return the proxy through which an address is called; None for a direct call.

        The proxy is for https and wss only, and never for this machine. The result may hold a
        password.
        """
        parts = urlsplit(address)
        if self.https_proxy is None or parts.scheme not in ("https", "wss"):
            return None
        if _is_this_machine(parts) or proxy_bypass_environment(parts.netloc, {"no": self.no_proxy}):
            return None
        return self.https_proxy.get_secret_value()

    def _find_problems(self, values: Mapping[str, str | None]) -> Iterator[str]:
        yield from super()._find_problems(values)
        yield from self._find_assistant_problems()
        if "docs_projects" not in values:
            for name in ("docs_api_url", "docs_api_key", "docs_project_id"):
                if name not in values:
                    yield f"{name.upper()} is missing"
        elif self.docs_projects:
            yield from self._find_project_problems(values)
        if not self.allow_http:
            yield from self._find_http_problems()
        # OpenSSL reads it.
        cafile = values.get("ssl_cert_file")
        try:
            if cafile:
                ssl.create_default_context(cafile=cafile)
        except OSError:  # also ssl.SSLError, when no certificate is in it
            yield "SSL_CERT_FILE must name a file with certificates (PEM) that this user can read"

    def _find_http_problems(self) -> Iterator[str]:
        """Yield the addresses of other machines at which keys and texts would not be encrypted."""
        called = ("SLACK_API_URL", "DOCS_API_URL", "GITHUB_API_URL")
        addresses = {name: getattr(self, name.lower(), None) for name in called}
        for name, entry in self.docs_projects.items():
            addresses[f"DOCS_PROJECTS {name}"] = entry.address
        for name, address in addresses.items():
            parts = urlsplit(address or "")
            if parts.scheme == "http" and not _is_this_machine(parts):
                yield (
                    f"{name} begins with http://, so keys and texts could be read on the way: "
                    "use https://, or set ALLOW_HTTP=true"
                )

    def _find_assistant_problems(self) -> Iterator[str]:
        """Yield an assistant's problems. Its key belongs to one deployment of one project."""
        if self.docs_projects and (self.assistant_key or self.assistant_domain):
            name = "ASSISTANT_KEY" if self.assistant_key else "ASSISTANT_DOMAIN"
            yield f'{name} is for a single project: write it into DOCS_PROJECTS as "{name.lower()}"'
        elif bool(self.assistant_key) != bool(self.assistant_domain):
            missing = "ASSISTANT_DOMAIN" if self.assistant_key else "ASSISTANT_KEY"
            yield f"{missing} is missing: the docs are asked with both"
        for name, entry in self.docs_projects.items():
            if bool(entry.assistant_key) != bool(entry.assistant_domain):
                missing = "assistant_domain" if entry.assistant_key else "assistant_key"
                yield f'DOCS_PROJECTS {name} has no "{missing}": the docs are asked with both'

    def _find_project_problems(self, values: Mapping[str, str | None]) -> Iterator[str]:
        """Yield the problems with DOCS_PROJECTS. The key of DOCS_API_URL goes to its host alone."""
        for name, entry in self.docs_projects.items():
            if entry.address:
                if not entry.key:
                    yield (
                        f'DOCS_PROJECTS {name} has an "address" of its own, '
                        'so it needs a "key" of its own'
                    )
                continue
            if "docs_api_url" not in values:
                yield f'DOCS_PROJECTS {name} has no "address", and DOCS_API_URL is missing'
            if not entry.key and "docs_api_key" not in values:
                yield f'DOCS_PROJECTS {name} has no "key", and DOCS_API_KEY is missing'
        ids = [entry.id for entry in self.docs_projects.values()]
        if self.docs_project_id is not None and self.docs_project_id not in ids:
            text = 'is the "id" of none of DOCS_PROJECTS: add it there, or leave it out'
            yield f"DOCS_PROJECT_ID {text}"


class DatabaseSettings(LoadedSettings):
    """The settings of the database, for commands that use nothing else."""

    database_url: Annotated[SecretStr, _validate_secret(_check_database)] = SecretStr(
        "sqlite:///var/docs-bot.db"
    )

    @property
    def sqlalchemy_url(self) -> str:
        """Return the database URL for SQLAlchemy; it may contain a password."""
        return sqlalchemy_url(self.database_url.get_secret_value())


class Settings(DatabaseSettings, DocsSettings, SlackSettings):
    """Every setting. A field is named after its variable; docs/settings.md explains each."""

    _former: ClassVar = {
        "DATABASE_CONNECTIONS": "a process opens five connections to PostgreSQL",
        "WAITING_PER_PERSON": "ten prompts of a person may wait",
        "ANALYTICS_CALLS_AN_HOUR": "the docs service allows a hundred calls for visitors an hour",
        "LOG_FORMAT": "a terminal shows lines for people, everything else gets JSON",
    }
    uses_an_hour: Annotated[int, Field(ge=1)] = 100
    remind_after_days: Annotated[int, Field(ge=0, le=90)] = 3
    analytics_zone: Annotated[ZoneInfo, BeforeValidator(_read_zone)] = ZoneInfo("UTC")
    github_api_url: Annotated[Address, AfterValidator(_check_github)] = "https://api.github.com"
    github_token: Key | None = None
    answers: Annotated[Literal["assistant", "search"], BeforeValidator(str.lower)] = "assistant"
    answers_a_day: Annotated[int, Field(ge=0, le=10_000)] = 50
    previews: Annotated[Literal["press", "always", "off"], BeforeValidator(str.lower)] = "press"
    keep_days: Annotated[int, AfterValidator(_check_days)] = 180
    poll_min_seconds: Annotated[float, Field(gt=0, le=3600, allow_inf_nan=False)] = 10.0
    poll_max_seconds: Annotated[float, Field(gt=0, le=3600, allow_inf_nan=False)] = 60.0
    context: Annotated[Literal["thread", "none"], BeforeValidator(str.lower)] = "thread"
    prompt_signature: bool = True
    allowed_channels: Annotated[frozenset[ChannelId], _parse_ids("CGD")] = frozenset()
    allowed_users: Annotated[frozenset[UserId], _parse_ids("UW")] = frozenset()
    allowed_user_groups: Annotated[frozenset[str], _parse_ids("S")] = frozenset()
    allowed_bots: Annotated[frozenset[UserId], _parse_ids("AUW")] = frozenset()
    admins: Annotated[frozenset[UserId], _parse_ids("UW")] = frozenset()
    allowed_link_hosts: Annotated[frozenset[str], _HOSTS] = frozenset()
    log_level: Annotated[
        Literal["DEBUG", "INFO", "WARNING", "ERROR"], BeforeValidator(str.upper)
    ] = "INFO"

    def secrets(self) -> list[str]:
        """Return every secret value, and passwords in all their forms, for the logs to hide."""
        fields: list[object] = [*dict(self).values()]
        for entry in self.docs_projects.values():
            fields += [entry.key, entry.assistant_key]
        values = [value.get_secret_value() for value in fields if isinstance(value, SecretStr)]
        for address in (self.https_proxy, self.database_url):
            if address is None:
                continue
            for password in re.findall(r"//[^/:@]*:([^@ ]+)@", address.get_secret_value()):
                plain = unquote(password)
                values += {password, plain, quote(plain, safe="")}
        return values

    def _find_problems(self, values: Mapping[str, str | None]) -> Iterator[str]:
        yield from super()._find_problems(values)
        if self.poll_min_seconds > self.poll_max_seconds:
            yield "POLL_MIN_SECONDS must not be greater than POLL_MAX_SECONDS"
