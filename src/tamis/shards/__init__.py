"""Shards: an index too large or too busy for one process, as files that any host can fetch and map."""
