"""Import filters of OGC CQL2, in its text and its JSON form.

``parser.py`` reads text and JSON as the same nodes, ``filters.py`` turns nodes into conditions,
``temporal.py`` and ``spatial.py`` their functions. ``docs/rules/cql2.md`` lists every function and every
difference.
"""
