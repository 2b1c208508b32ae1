"""The weekly digest and its subscriptions."""
