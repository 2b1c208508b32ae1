"""Ports for servers whose address is known before they listen."""

from __future__ import annotations

import socket

from sandbox.ports import free_port


def test_ports_differ_and_none_is_one_that_connections_get() -> None:
    ports = [free_port() for _ in range(200)]
    assert len(set(ports)) == 200
    assert all(10_240 <= port < 32_768 for port in ports)


def test_a_port_in_use_is_passed_over() -> None:
    while True:
        following = free_port() + 1
        with socket.socket() as taken:
            try:
                taken.bind(("127.0.0.1", following))
            except OSError:
                continue  # used by another process: try the next
            taken.listen()
            assert free_port() != following
        return
