"""Values, events, patterns, shapes and text: the things that expressions speak about."""
