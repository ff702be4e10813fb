"""The structures below a pivot: lists sorted by operand, and the trie of nested ranges."""
