"""The types of the settings' values: what each accepts, and what is said of anything else."""

from __future__ import annotations

import re
import ssl
from collections.abc import Callable, Mapping
from enum import StrEnum
from functools import cache
from ipaddress import ip_address
from typing import TYPE_CHECKING, Annotated
from urllib.parse import quote, urlsplit
from zoneinfo import available_timezones

from pydantic import AfterValidator, Field, SecretStr

if TYPE_CHECKING:
    from sqlalchemy.engine import URL

_HOST = re.compile(r"[a-z0-9_-]+(?:\.[a-z0-9_-]+)*")


class FollowUpMode(StrEnum):
    """Which replies in a job's thread are follow-ups."""

    REPLIES = "replies"
    MENTIONS = "mentions"


class ContextMode(StrEnum):
    """Whether the earlier messages of a thread go to the agent with a prompt."""

    THREAD = "thread"
    NONE = "none"


class LogLevel(StrEnum):
    """The lowest level that is logged."""

    DEBUG = "DEBUG"
    INFO = "INFO"
    WARNING = "WARNING"
    ERROR = "ERROR"


class LogFormat(StrEnum):
    """The format of log lines; ``auto`` is ``console`` on a terminal and ``json`` elsewhere."""

    AUTO = "auto"
    CONSOLE = "console"
    JSON = "json"


def address(value: str) -> str:
    """Return the value if it is the address of an HTTP service; raise ValueError otherwise."""
    try:
        parts = urlsplit(value)
        name, user, _ = parts.hostname, parts.username, parts.port
    except ValueError:
        raise ValueError("is not an address") from None
    if parts.scheme not in ("http", "https") or not name:
        raise ValueError("must be an address that begins with https:// or http://")
    if user is not None or parts.password is not None:
        raise ValueError("must not carry a user name or password")
    if parts.query or parts.fragment:
        raise ValueError("must not carry a query or a fragment")
    return value


def is_unencrypted(value: str) -> bool:
    """Return whether an address is http on another machine, so that keys and texts can be read on the way."""
    try:
        parts = urlsplit(value)
    except ValueError:
        return False  # the setting itself is reported as invalid
    return parts.scheme == "http" and not is_loopback(parts.hostname or "")


def with_slash(value: str) -> str:
    """Return an address that ends with a slash."""
    return value if value.endswith("/") else f"{value}/"


_TOKENS = {
    "xoxb-": "a bot token, which belongs in SLACK_BOT_TOKEN",
    "xapp-": "an app token, which belongs in SLACK_APP_TOKEN",
    "xoxp-": "a user's token",
    "xoxe": "a token that expires",
}
"""The kinds of Slack's tokens: https://docs.slack.dev/authentication/tokens."""


def begins(prefix: str) -> AfterValidator:
    """Return a validator of Slack's tokens that begin with ``prefix``."""

    def check(value: SecretStr) -> SecretStr:
        token = header_value(value).get_secret_value()
        if not token.startswith(prefix):
            kind = next((about for start, about in _TOKENS.items() if token.startswith(start)), None)
            raise ValueError(f"must begin with {prefix}" + (f"; this is {kind}" if kind else ""))
        if token == prefix:
            raise ValueError(f"has nothing after {prefix}")
        return value

    return AfterValidator(check)


def signing_secret(value: SecretStr) -> SecretStr:
    """Return a secret that can sign requests; raise ValueError without quoting it otherwise."""
    secret = value.get_secret_value()
    kind = next((about for start, about in _TOKENS.items() if secret.startswith(start)), None)
    if kind:
        raise ValueError(f"must be the Signing Secret of the app; this is {kind}")
    return header_value(value)


def header_value(value: SecretStr) -> SecretStr:
    """Return a secret that can be sent in a header; raise ValueError without quoting it otherwise."""
    secret = value.get_secret_value()
    if secret[:1] in ("'", '"') and secret[:1] == secret[-1:]:
        raise ValueError("stands in quotes, which `docker run --env-file` keeps: write it without them")
    if re.search(r"\s", secret):
        raise ValueError("has a blank or a line end in it: copy it again")
    if not re.fullmatch(r"[!-~]*", secret):
        raise ValueError("has a sign in it that is not ASCII: copy it again")
    return value


def unusable_certificates(found: Mapping[str, str]) -> list[str]:
    """Return why the file of one's own CA cannot be used, which OpenSSL reads from SSL_CERT_FILE."""
    try:
        if "SSL_CERT_FILE" in found:
            ssl.create_default_context(cafile=found["SSL_CERT_FILE"])
    except OSError:  # also ssl.SSLError, when no certificate is in it
        return ["SSL_CERT_FILE must name a file with certificates (PEM) that this user can read"]
    return []


def database(value: SecretStr) -> SecretStr:
    """Return the value if it is a database's address; raise ValueError without quoting it otherwise."""
    # Imported here, because `docs-bot visitors` needs no database.
    from sqlalchemy.engine import make_url
    from sqlalchemy.exc import ArgumentError

    try:
        make_url(sqlalchemy_url(value.get_secret_value()))
    except (ArgumentError, ValueError):
        # Their texts quote the address, which may hold a password.
        raise ValueError("is not the address of a database") from None
    return value


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


def passwords(url: URL) -> list[str]:
    """Return the URL's password in all its forms: decoded, percent-encoded and as written."""
    if not url.password:
        return []
    written = url.render_as_string(hide_password=False).partition("@")[0].rpartition(":")[2]
    return list({str(url.password), quote(str(url.password), safe=""), written})


def ids(*letters: str) -> Callable[[object], object]:
    """Return a parser of Slack ids separated by commas or blanks. Names are refused: they can change."""

    def split(value: object) -> object:
        if not isinstance(value, str):
            return value
        ids = value.replace(",", " ").split()
        wrong = [each for each in ids if not (each.isalnum() and each.isupper() and each.startswith(letters))]
        if wrong:
            shown = " or ".join(f"{letter}…" for letter in letters)
            raise ValueError(f"must be ids of Slack ({shown}) with commas between them, not names")
        return frozenset(ids)

    return split


def hosts(value: object) -> object:
    """Parse host names separated by commas or blanks; those of other scripts become Punycode."""
    if not isinstance(value, str):
        return value
    try:
        hosts = {each.lower().encode("idna").decode() for each in value.replace(",", " ").split()}
    except UnicodeError:
        hosts = {""}
    if not all(_HOST.fullmatch(host) for host in hosts):
        raise ValueError("must be names of hosts such as github.com with commas between them, not addresses")
    return frozenset(hosts)


def days(value: int) -> int:
    """Return for how many days something is kept; raise ValueError for less than Slack repeats requests."""
    if value != 0 and not 7 <= value <= 36_500:
        raise ValueError("must be from 7 to 36500 days, or 0 for ever")
    return value


def capitals(value: object) -> object:
    """Return text in upper case."""
    return value.upper() if isinstance(value, str) else value


def small(value: object) -> object:
    """Return text in lower case."""
    return value.lower() if isinstance(value, str) else value


@cache
def zone_names() -> frozenset[str]:
    """Return the names of all IANA time zones. They are read from the disk once, which takes 10 to 20 ms."""
    return frozenset(available_timezones())


def zone(value: str) -> str:
    """Return the value if it is the name of a time zone; raise ValueError otherwise."""
    if value not in zone_names():
        raise ValueError("must be the name of a time zone such as UTC or Europe/Berlin")
    return value


def host(value: str) -> str:
    """Return an IP address to listen on; raise ValueError for anything else."""
    try:
        return str(ip_address("127.0.0.1" if value == "localhost" else value.strip("[]")))
    except ValueError:
        raise ValueError("must be an IP address of this machine, such as 0.0.0.0 or 127.0.0.1") from None


def proxy(value: SecretStr) -> SecretStr:
    """Return the address of an HTTP proxy, perhaps with a user and a password, which errors do not quote."""
    try:
        parts = urlsplit(value.get_secret_value())
        name, _ = parts.hostname, parts.port
    except ValueError:
        raise ValueError("is not an address") from None
    if parts.scheme not in ("http", "https") or not name:
        raise ValueError("must be the address of a proxy, such as http://proxy.example:3128")
    return value


def is_loopback(name: str) -> bool:
    """Return whether a host name or IP address is this machine's own."""
    try:
        return name == "localhost" or ip_address(name).is_loopback
    except ValueError:
        return False


Address = Annotated[str, AfterValidator(address)]
DATABASE_URL = "sqlite:///var/docs-bot.db"
"""Default of the setting of that name."""
DatabaseUrl = Annotated[SecretStr, AfterValidator(database)]
Port = Annotated[int, Field(ge=0, le=65_535)]
Host = Annotated[str, AfterValidator(host)]
