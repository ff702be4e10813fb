#!/bin/sh
# Packs a Python environment that Spark copies to its executors: environment.tar.gz.
#
# A plain venv in a plain tar: a venv finds its packages relative to its own python, so it can be unpacked
# anywhere. Its python is a link to the one that created it, which must have the same path on all hosts. If it
# has not, create the environment with conda and pack it with conda-pack; the rest stays the same.
# PySpark itself is not packed, since the cluster has its own; hence the extra "executor".
set -eu
python="${PYTHON:-python3}"
package="${TAMIS:-tamis[executor]}"

rm -rf environment environment.tar.gz
"$python" -m venv environment
environment/bin/python -m pip install --quiet "$package"
# Kernels are compiled once, here: the archive contains them for hosts with the same kind of processor.
environment/bin/python -c 'from tamis.index.warm import warm; warm()'
tar -czf environment.tar.gz -C environment .
