"""How a store's tables came to be, step by step; alembic runs what a store has not seen yet."""
