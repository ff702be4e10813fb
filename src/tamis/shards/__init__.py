"""Sharded indexes: files that any host can fetch and map, for an index too large for one process."""
