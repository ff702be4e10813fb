"""Import the fixtures of the tests with Spark."""

from tests.spark.commands import files, index, tamis  # noqa: F401  (fixtures)
