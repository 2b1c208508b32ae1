"""Ports for servers whose address others must know before they listen."""

from __future__ import annotations

import itertools
import os
import socket

_FIRST, _COUNT = 10_240, 20_000
"""Below what systems give to connections by themselves (Linux from 32768, others from 49152), so that no
connection takes the port between the look and its use. https://www.rfc-editor.org/rfc/rfc6335#section-6"""
_tries = itertools.count(os.getpid() * 997)


def free_port() -> int:
    """A port that nobody listens on at this moment; no two calls of a process answer the same soon."""
    for number in itertools.islice(_tries, _COUNT):
        port = _FIRST + number % _COUNT
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
        return port
    raise OSError("every port that could be taken is taken")
