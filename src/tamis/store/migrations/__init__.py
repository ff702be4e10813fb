"""The migrations of the store's tables; alembic runs those that a store has not had yet."""
