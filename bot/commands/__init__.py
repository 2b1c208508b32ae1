"""Words, buttons and forms, and the features that bring them."""
