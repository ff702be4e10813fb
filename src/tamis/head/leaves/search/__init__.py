"""Search the lists of the head."""
