"""What the doctor finds, and the causes of troubles on the way to a remote service."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of one check: whether it passed, what was found, and what to do about it.

    A check that passed and has an advice is a remark: nothing is wrong yet.
    """

    name: str
    ok: bool
    seen: str
    advice: str = ""

    @property
    def state(self) -> str:
        """Return ``ok``, ``note`` or ``bad``."""
        if not self.ok:
            return "bad"
        return "note" if self.advice else "ok"


_NETWORK = (
    ("ClientConnectorDNSError", "its host name is unknown", "Look at the host in {setting}, and at DNS."),
    (
        "ClientConnectorCertificateError",
        "its certificate is not trusted",
        "If a CA of your own signs it, name the file of that CA in the environment as SSL_CERT_FILE.",
    ),
    (
        "ClientConnectorSSLError",
        "no encrypted connection (TLS)",
        "Look at {setting}: does this port speak https?",
    ),
    ("ClientProxyConnectionError", "the proxy cannot be reached", "Look at HTTPS_PROXY."),
    (
        "ClientHttpProxyError",
        "the proxy refuses to connect",
        "Look at the user and password in HTTPS_PROXY, and at what the proxy allows.",
    ),
    ("ClientConnectorError", "nothing listens there", "Look at {setting}, at a firewall and at HTTPS_PROXY."),
    ("Timeout", "no answer in time", "Look at the network, at a firewall and at HTTPS_PROXY."),
    ("did not answer in time", "no answer in time", "Look at the network, a firewall and HTTPS_PROXY."),
    ("ClientPayloadError", "it breaks the connection off", "Look at the network and at a proxy on the way."),
    ("Disconnected", "it breaks the connection off", "Look at the network and at {setting}."),
    ("HTTP 5", "it or a gateway before it is unwell", "Wait; look at its status page and at {setting}."),
    (
        "unreadable",
        "something unreadable came in place of an answer",
        "Look at {setting}, and at a proxy on the way.",
    ),
    ("web page", "a web page came in place of an answer", "Look at {setting}, and at a proxy on the way."),
    ("redirects", "it sends elsewhere, and the bot does not follow", "Write the final address in {setting}."),
)
"""A part of what an error says, its cause and the advice. The first part that is found counts."""


def network_trouble(name: str, said: str, setting: str) -> Finding:
    """Return why a service cannot be used, from what its client's error says."""
    for part, cause, advice in _NETWORK:
        if part in said:
            return Finding(name, False, cause, advice.format(setting=setting))
    return Finding(name, False, said, f"Look at {setting} and the network.")
