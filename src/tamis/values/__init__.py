"""Define values, events, patterns, shapes and text, to which expressions refer."""
