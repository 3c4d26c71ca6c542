#!/usr/bin/env bash
# Runs pyarrow's own Parquet tests on our functions, and compares the failures with those in pyarrow_expected.txt.
# The tests of encryption run again with `install`, which passes pyarrow's classes of keys on: all of them pass.
#
# Usage: pyarrow_suite.sh PYTHON
set -euo pipefail
python="$1"
folder="$(cd "$(dirname "$0")" && pwd)"
expected="$folder/pyarrow_expected.txt"
found="$(mktemp)"
trap 'rm -f "$found" "$found.log"' EXIT
cd /
suite() {
    PYTHONPATH="$folder${PYTHONPATH:+:$PYTHONPATH}" PARQUET_TEST_DATA="" COLUMNS=500 "$python" -m pytest \
        -p pyarrow_plugin -p no:cacheprovider -q -rfE --tb=no --pyargs "$@" > "$found.log" 2>&1 || true
    tail -1 "$found.log"
}
# `test_dataset_read_dictionary` compares the dictionaries of random values, in an order that is not always ours.
suite pyarrow.tests.parquet -k 'not test_dataset_read_dictionary'
# So do both tests of `test_direct_read_dictionary`, which pass if our order is that of the values.
sed -nE 's/^(FAILED|ERROR) [^ ]*tests\/parquet\///p' "$found.log" | sed -E 's/ - .*//; s/ /_/g' |
    { grep -v test_direct_read_dictionary || true; } | sort -u > "$found"
if ! diff <(grep -v '^#' "$expected" | cut -d' ' -f1 | sort -u) "$found"; then
    echo "pyarrow's tests: the failures differ from pyarrow_expected.txt"
    exit 1
fi
HERRINGBONE_INSTALL=1 suite pyarrow.tests.parquet.test_encryption
if grep -qE '^(FAILED|ERROR)' "$found.log" || ! grep -q ' passed' "$found.log"; then
    grep -E '^(FAILED|ERROR)' "$found.log"
    echo "pyarrow's tests of encryption fail with herringbone.pyarrow.install()"
    exit 1
fi
echo "pyarrow's tests: the failures are those of pyarrow_expected.txt"
