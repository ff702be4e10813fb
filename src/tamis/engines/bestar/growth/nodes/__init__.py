"""Nodes of a growing tree: made, given up, filled, bounded."""
