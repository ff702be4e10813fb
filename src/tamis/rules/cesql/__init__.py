"""Import expressions of CloudEvents SQL.

``expressions.py`` reads an expression as a condition, ``constants.py`` works out what needs no event.
``docs/rules/cesql.md`` lists every operator and every difference.
"""
