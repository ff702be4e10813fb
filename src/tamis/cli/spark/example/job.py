"""Build an index of subscriptions and match events against it, on the cluster that runs this job.

Usage: job.py SUBSCRIPTIONS EVENTS INDEX OUT; each is a path that all hosts reach: s3://, gs://, hdfs://, a
shared folder.
"""

import sys

from tamis.spark import build, events, match, session, subscriptions


def main(book: str, log: str, index: str, out: str) -> None:
    """Build the index, match the events, and write the matches."""
    spark = session(name="tamis-example")
    built = build(subscriptions(book, spark=spark).rows, index)
    sys.stderr.write(f"{built.subscriptions} subscriptions, {built.refused} refused\n")
    found = events(spark.read.parquet(log)).transform(match(index))
    found.write.mode("overwrite").parquet(out)
    spark.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
