"""Import queries of Elasticsearch and OpenSearch, as a percolator holds them.

``queries.py`` reads compound queries, ``leaves.py`` those on one field, ``text.py`` full text, ``dates.py``
date math, ``geo.py`` queries on the map. ``docs/rules/elasticsearch.md`` lists every query and difference.
"""
