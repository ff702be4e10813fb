"""What a user would pick instead of Tamis: the same work, in the same run, with the answers compared."""
