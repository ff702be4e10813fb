"""The figures of the papers, redrawn with our engines: ``python -m bench figures``.

A module per paper says what each of its figures varies and measures, and what the paper claims. ``measure``
runs the jobs, ``store`` keeps every result, ``claims`` computes the answers, ``draw`` and ``page`` show them.
"""
