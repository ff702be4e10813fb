#!/bin/sh
# Sends job.py to the cluster, with the environment that pack.sh packed.
#
#   ./submit.sh SUBSCRIPTIONS EVENTS INDEX OUT
#
# Every executor unpacks the archive as ./environment, and its python runs the tasks. The driver runs here,
# from the folder of the same name.
set -eu
master="${MASTER:-spark://HOST:7077}"

PYSPARK_DRIVER_PYTHON="${PYSPARK_DRIVER_PYTHON:-environment/bin/python}" \
PYSPARK_PYTHON=./environment/bin/python \
    spark-submit --master "$master" \
    --archives environment.tar.gz#environment \
    --conf spark.python.daemon.module=tamis.spark.daemon \
    --conf spark.sql.execution.arrow.maxRecordsPerBatch=100000 \
    job.py "$@"
