#!/usr/bin/env bash
# Builds the wheel and runs its tests: integrations/python/ci.sh [quick]. Without `quick`, it also runs tests of pyarrow, pandas,
# geopandas and Dask over the package.
set -euo pipefail
cd "$(dirname "$0")/../.."

target="${CARGO_TARGET_DIR:-$PWD/target}"
folder="$target/python"
mkdir -p "$folder"
python="${PYTHON:-python3}"
if ! "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
    echo "skipped: Python 3.11 is needed"
    exit 0
fi

environment() {
    [ -x "$folder/$1/bin/python" ] || "$python" -m venv "$folder/$1"
    "$folder/$1/bin/pip" install --quiet --disable-pip-version-check "${@:2}"
}
environment build 'maturin==1.16.0'
rm -rf "$folder/wheels"
export CARGO_TARGET_DIR="$target"
(cd integrations/python && cargo fmt --check && cargo clippy --quiet --all-targets -- -D warnings)
"$folder/build/bin/maturin" build --quiet --profile "${PYTHON_PROFILE:-dev}" \
    --manifest-path integrations/python/Cargo.toml --out "$folder/wheels" --locked --compatibility linux

# Without any other package, and then with those that tables are shared with.
environment alone pytest
environment peers -r integrations/python/tests/requirements.txt
for one in alone peers; do
    "$folder/$one/bin/pip" install --quiet --disable-pip-version-check --force-reinstall --no-deps "$folder"/wheels/*.whl
    "$folder/$one/bin/python" -m pytest -q -p no:cacheprovider integrations/python/tests
done
"$folder/peers/bin/python" -m mypy --config-file integrations/python/pyproject.toml integrations/python/python/herringbone
"$folder/peers/bin/python" -m mypy.stubtest --mypy-config-file integrations/python/pyproject.toml herringbone._core
[ "${1:-}" != quick ] || exit 0

# The source archive, in an environment of its own.
rm -rf "$folder/archive"
"$folder/build/bin/maturin" sdist --manifest-path integrations/python/Cargo.toml --out "$folder/archive"
environment source pytest
MATURIN_PEP517_ARGS="--profile ${PYTHON_PROFILE:-dev}" \
    "$folder/source/bin/pip" install --quiet --disable-pip-version-check --force-reinstall "$folder"/archive/*.tar.gz
"$folder/source/bin/python" -m pytest -q -p no:cacheprovider integrations/python/tests/test_{alone,package}.py
integrations/python/tests/pyarrow_suite.sh "$folder/peers/bin/python"
integrations/python/tests/peer_suites.sh "$folder/peers/bin/python"
