"""Import conditions of other SQL dialects, parsed by sqlglot.

``conditions.py`` reads the condition behind WHERE with SQL's three-valued logic, ``operands.py`` columns and
constants. ``docs/rules/sql.md`` lists every operator and every difference.
"""
