"""Which release this is. It stands apart, so that every layer can say it."""

__version__ = "0.1.0"
