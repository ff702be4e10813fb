"""Read expressions with infix operators: CQL2, CloudEvents SQL and CEL.

``tokens.py`` cuts a text into tokens, ``parser.py`` reads operators by their precedence. Each language has a
parser of its own, which adds its literals and its special forms.
"""
