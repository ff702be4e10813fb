"""The tree of an expression, and the definition of what it matches."""
