"""What an operator looks at: liveness, readiness, metrics."""
