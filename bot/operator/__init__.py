"""What only the operator's command line needs."""
