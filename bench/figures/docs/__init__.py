"""Write docs/papers: a picture and a table of every measured figure, and the generated part of every page.

``tables`` keeps the points as CSV, ``picture`` draws them as SVG, ``markdown`` writes the verdicts, and
``write`` does all of it. Everything but the CSV files follows from them, so a clone can redraw them.
"""
