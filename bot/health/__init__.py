"""Endpoints for operators: liveness, readiness and metrics."""
