"""How cost grows: with the book, the event, the attributes and the matches; and how far the hardware is.

``curves`` says what is measured, ``shelf`` builds books too large for one index in pieces on disk,
``hardware`` measures what memory can do, ``touched`` counts the cache lines that an event needs.
"""
