"""Import Boolean expressions of the Common Expression Language, CEL.

``parser.py`` reads the syntax, ``expressions.py`` turns nodes into conditions. ``docs/rules/cel.md`` lists
every operator and every difference.
"""
