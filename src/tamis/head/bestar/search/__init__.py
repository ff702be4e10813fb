"""Search the growing tree of a head."""
