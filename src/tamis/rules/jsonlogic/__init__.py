"""Import rules of JsonLogic.

``rules.py`` turns rules about data into conditions, ``constants.py`` works out what needs no data.
``docs/rules/jsonlogic.md`` lists every operation and every difference.
"""
