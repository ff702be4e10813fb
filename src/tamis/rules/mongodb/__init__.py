"""Import query documents of MongoDB.

``filters.py`` reads logical operators and fields, ``operators.py`` those on one field, ``values.py`` values
of extended JSON, ``geo.py`` shapes. ``docs/rules/mongodb.md`` lists every operator and every difference.
"""
