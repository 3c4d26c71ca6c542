#!/usr/bin/env bash
# Runs the Parquet tests of pandas, geopandas and Dask on our functions, which `install` puts in the place of pyarrow's.
# A test that fails with them and passes on pyarrow is an error, unless peer_expected.txt has it with a reason.
#
# Usage: peer_suites.sh PYTHON
set -euo pipefail
python="$1"
folder="$(cd "$(dirname "$0")" && pwd)"
found="$(mktemp -d)"
trap 'rm -rf "$found"' EXIT
cd "$found"
suite() {
    PYTHONPATH="$folder${PYTHONPATH:+:$PYTHONPATH}" COLUMNS=500 "$python" -m pytest -p no:cacheprovider -q -rfE \
        --tb=no --pyargs "$@" > "$found/log" 2>&1 || true
    tail -1 "$found/log" >&2
    grep -q ' passed' "$found/log" || { cat "$found/log" >&2; return 1; }
    sed -nE 's/^(FAILED|ERROR) [^: ]*::/::/p' "$found/log" | sed -E 's/ - .*//; s/ /_/g' | sort -u
}
for tests in pandas.tests.io.test_parquet geopandas.io.tests.test_arrow dask.dataframe.io.tests.test_parquet; do
    HERRINGBONE_INSTALL=1 suite -p pyarrow_plugin "$tests" > "$found/ours"
    if [ -s "$found/ours" ]; then
        # Some fail on pyarrow as well, with these versions of all packages.
        suite "$tests" > "$found/theirs"
        comm -23 "$found/ours" "$found/theirs" | sed "s/^/$tests/" >> "$found/failed"
    fi
done
touch "$found/failed"
if ! diff <(grep -v '^#' "$folder/peer_expected.txt" | cut -d' ' -f1 | sort -u) <(sort -u "$found/failed"); then
    echo "the tests of pandas, geopandas and Dask: the failures differ from peer_expected.txt"
    exit 1
fi
echo "the tests of pandas, geopandas and Dask: the failures are those of peer_expected.txt"
