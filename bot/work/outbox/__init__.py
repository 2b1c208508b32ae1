"""Carrying out deliveries."""
