#!/usr/bin/env bash
# Runs pyarrow's own Parquet tests on our functions, and compares the failures with those in pyarrow_expected.txt.
#
# Usage: pyarrow_suite.sh PYTHON
set -euo pipefail
folder="$(cd "$(dirname "$0")" && pwd)"
found="$(mktemp)"
trap 'rm -f "$found"' EXIT
cd /
# `test_dataset_read_dictionary` compares the dictionaries of random values, in an order that is not always ours.
PYTHONPATH="$folder${PYTHONPATH:+:$PYTHONPATH}" PARQUET_TEST_DATA="" COLUMNS=500 "$1" -m pytest -p pyarrow_plugin -p no:cacheprovider -q -rfE --tb=no \
    --pyargs pyarrow.tests.parquet -k 'not test_dataset_read_dictionary' > "$found.log" 2>&1 || true
tail -1 "$found.log"
sed -nE 's/^(FAILED|ERROR) [^ ]*tests\/parquet\///p' "$found.log" | sed -E 's/ - .*//; s/ /_/g' | sort -u > "$found"
rm -f "$found.log"
expected="$folder/pyarrow_expected.txt"
if diff <(grep -v '^#' "$expected" | cut -d' ' -f1 | sort -u) "$found"; then
    echo "pyarrow's tests: the failures are those of pyarrow_expected.txt"
else
    echo "pyarrow's tests: the failures differ from pyarrow_expected.txt"
    exit 1
fi
