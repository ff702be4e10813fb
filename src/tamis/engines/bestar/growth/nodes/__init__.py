"""The nodes of a growing tree: make them, give them up, fill them, bound them."""
