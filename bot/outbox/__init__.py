"""Carry out the deliveries in the outbox."""
