"""Web addresses from outside: safe addresses, and the labels of their links.

A link leads to an address that its reader can see to be safe: https, without a user, and with a
host that a browser does not read as another one.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection
from dataclasses import dataclass
from ipaddress import ip_address
from urllib.parse import urljoin, urlsplit

from bot.messages.plain_text import visible

MAX_URL_CHARACTERS = 3_000
_MAX_HOST_CHARACTERS = 48
_HOST_PATTERN = re.compile(r"[a-z0-9_-]+(?:\.[a-z0-9_-]+)*")
_NAMED_PATTERN = re.compile(
    r"(?:[a-z][a-z0-9+.-]{0,20}:/{0,2}|www\.)([^\s/?#:]{1,255})", re.IGNORECASE
)
"""An address within a label, with its host."""
_BARE_PATTERN = re.compile(r"\s*([^\s/?#:@]{1,255}\.[a-z]{2,24})(?:[:/?#]\S*)?\s*", re.IGNORECASE)
"""A label that is an address without its scheme, with its host."""
_FILE_ENDINGS = frozenset(
    {
        *("css", "html", "js", "json", "md", "mdx", "py", "rst", "sh", "toml", "ts", "txt"),
        *("yaml", "yml"),
    }
)
"""Ends of the names of files, which read as hosts."""


def web_address(url: str | None) -> str | None:
    """Return the URL if it is safe to link to; None otherwise.

    Its host is in ASCII.

    It must be https (or http on this machine, as in the sandbox), of at most ``MAX_URL_CHARACTERS``
    characters, and not misleading.
    """
    if not url or len(url) > MAX_URL_CHARACTERS or visible(url) != url:
        return None
    if any(sign.isspace() for sign in url):
        return None
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
        port = parts.port
    except ValueError:
        return None
    ascii_host = _to_punycode(host)
    # Refused, because a reader mistakes the host:
    # "https://good.example@evil.example" and "https://evil.example\\.good.example".
    if ascii_host is None or "@" in parts.netloc or "\\" in url:
        return None
    if parts.scheme != "https" and not (parts.scheme == "http" and _is_loopback(host)):
        return None
    if ascii_host == host:
        return url
    return url.replace(parts.netloc, _join_netloc(ascii_host, port), 1)


def _to_punycode(host: str) -> str | None:
    """Return a host in Punycode.

    Returns None if the host is odd, or if browsers could read it as another one.
    """
    if _is_loopback(host) or _HOST_PATTERN.fullmatch(host):
        return host
    try:
        encoded = host.encode("idna")
        is_same = encoded.decode("idna") == host
    except UnicodeError:
        return None
    if not is_same or host.isascii() or not _HOST_PATTERN.fullmatch(encoded.decode()):
        return None
    return encoded.decode()


def _join_netloc(host: str, port: int | None) -> str:
    return host if port is None else f"{host}:{port}"


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def host_of(address: str) -> str:
    """Return the host of a `web_address`, with its port, for readers.

    It is clipped at the front.
    """
    parts = urlsplit(address)
    host = _join_netloc(parts.hostname or "", parts.port)
    return host if len(host) <= _MAX_HOST_CHARACTERS else f"…{host[1 - _MAX_HOST_CHARACTERS :]}"


def clean_url(url: str | None, hosts: Collection[str]) -> str | None:
    """Return the URL, without its scheme if its host is foreign.

    A foreign host is not among ``hosts``; without hosts there is none. Without a scheme the URL is
    no `web_address`.
    """
    address = web_address(url)
    if not url or address is None or not hosts or urlsplit(address).hostname in hosts:
        return url
    while web_address(url) is not None:
        url = url.partition("://")[2]
    return url


def without_scheme(url: str) -> str:
    """Return an address as text that no program links."""
    while "://" in url[:30]:
        url = url.partition("://")[2]
    return url.lstrip("/")


@dataclass(frozen=True, slots=True)
class Site:
    """The addresses to which a text from outside may link."""

    hosts: frozenset[str] | None = frozenset()
    """The hosts of a project's docs; None for any host."""
    home: str | None = None
    """The address of a page of the docs, to which links without a host are relative."""
    repository: str | None = None
    """The address of the project's repository."""

    @classmethod
    def of(cls, pages: Collection[str], repository: str | None = None) -> Site:
        """Return the site of a project.

        Args:
            pages: Addresses or paths of pages of its docs, as the docs service names them.
            repository: The address of its repository.
        """
        addresses = [address for address in map(web_address, pages) if address]
        hosts = frozenset(filter(None, (urlsplit(address).hostname for address in addresses)))
        return cls(hosts, next(iter(addresses), None), repository)

    def find_address(self, url: str) -> str | None:
        """Return the address to which a link with this URL may lead.

        None if it may lead nowhere.
        """
        is_path = url.startswith("/") and not url.startswith(("//", "/\\"))
        address = web_address(urljoin(self.home, url) if is_path and self.home else url)
        if address is None or self.hosts is None:
            return address
        if urlsplit(address).hostname in self.hosts or self._is_in_repository(address):
            return address
        return None

    def _is_in_repository(self, address: str) -> bool:
        if self.repository is None or "/.." in address or "%2e" in address.lower():
            return False
        return f"{address}/".lower().startswith(f"{self.repository}/".lower())


ANY_SITE = Site(hosts=None)
"""For texts whose links are known to be safe."""


def label_of(label: str, address: str) -> str:
    """Return the label of a link.

    If it reads as another address, the host of the link's own address follows it.
    """
    host = (urlsplit(address).hostname or "").removeprefix("www.")
    is_misleading = bool(_find_hosts(label) - {host})
    return f"{label} ({host_of(address)})" if is_misleading else label


def _find_hosts(label: str) -> set[str]:
    """Return the hosts of the addresses that a label reads as."""
    # Full-width dots and slashes look like the usual ones.
    text = unicodedata.normalize("NFKC", label)
    hosts = set(_NAMED_PATTERN.findall(text))
    bare = _BARE_PATTERN.fullmatch(text)
    if bare and bare[1].rpartition(".")[2].lower() not in _FILE_ENDINGS:
        hosts.add(bare[1])
    return {_read_host(host) for host in hosts}


def _read_host(host: str) -> str:
    """Return the host that a browser would read in an address."""
    return host.lower().rpartition("@")[2].rstrip(".").removeprefix("www.")
