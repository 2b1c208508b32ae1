"""Ports for servers whose address is known before they listen."""

from __future__ import annotations

from sandbox.ports import free_port


def test_ports_differ_and_are_no_ephemeral_ones() -> None:
    ports = [free_port() for _ in range(200)]
    assert len(set(ports)) == 200
    assert all(10_240 <= port < 32_768 for port in ports)
