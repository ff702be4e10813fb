"""Import targeting rules of feature flags: Unleash (``unleash.py``) and GrowthBook (``growthbook.py``)."""
