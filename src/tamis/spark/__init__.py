"""The data pipeline on Apache Spark: DataFrame in, DataFrame out."""
