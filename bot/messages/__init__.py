"""Texts and blocks of messages, as pure functions."""
