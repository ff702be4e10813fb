"""The growth of cost with the book, the event, the attributes and the matches, and the hardware's limits.

``curves`` defines the measurements, ``shelf`` builds books too large for one index in pieces on disk,
``hardware`` measures memory, ``touched`` counts the cache lines that an event needs.
"""
