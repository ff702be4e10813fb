"""Locate values in cells: integers replace value types and operators from here on.

The predicates on one attribute cut its values into disjoint *predicate spaces* (the idea of the PS-Tree).
Each space is an integer *cell*. Cell 0 means absent. An attribute has

* one *main* dimension: sections of cells for numbers, times, strings and booleans, and a last cell
  for values of any other type;
* *views*, ordered string dimensions of the value reversed, case-folded, or read as an IP address;
* *flags*, dimensions with the single cell 1, set when a value contains a substring, matches a
  pattern, holds a term, or lies in a shape.

A predicate is then a few ranges of cells on one dimension, and an event is a list of (dimension, lowest cell,
highest cell).
"""
