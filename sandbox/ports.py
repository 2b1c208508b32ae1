"""Choose ports for servers whose address must be known before they listen."""

from __future__ import annotations

import itertools
import os
import socket

_FIRST, _COUNT = 10_240, 20_000
"""The range of ports to try. It is below the ephemeral ports (Linux from 32768, others from 49152), so that
no outgoing connection takes a port between the check and its use.
https://www.rfc-editor.org/rfc/rfc6335#section-6"""
_candidates = itertools.count(os.getpid() * 997)


def free_port() -> int:
    """Return a port that is free now; a process gets the same port again only after all others.

    Raise `OSError` if no port in the range is free.
    """
    for number in itertools.islice(_candidates, _COUNT):
        port = _FIRST + number % _COUNT
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
        return port
    raise OSError("every port that could be taken is taken")
