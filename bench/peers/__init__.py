"""The alternatives to Tamis: the same work, in the same run, with the answers compared."""
