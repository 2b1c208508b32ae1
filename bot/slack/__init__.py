"""Slack: listeners for incoming requests, and the messenger for outgoing calls.

This is the only package that imports Slack's libraries.
"""
