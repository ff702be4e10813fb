"""Import Sigma rules: detections of security analysts, parsed by pySigma.

A rule names its log source (``product: windows``, ``category: process_creation``) and tests fields of its
events. ``sources.py`` turns log sources into conditions, ``values.py`` turns field tests into predicates.
``docs/rules/sigma.md`` lists every modifier and every difference.
"""
