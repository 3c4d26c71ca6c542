#!/usr/bin/env bash
# Compares the command's Arrow streams with pyarrow, in a Python environment of its own.
set -euo pipefail
cd "$(dirname "$0")/.."

venv="${HERRINGBONE_VENV:-target/interop-venv}"
if [ ! -x "$venv/bin/python" ]; then
    python3 -m venv "$venv"
    "$venv/bin/pip" install --quiet --disable-pip-version-check pyarrow numpy
fi
cargo build --quiet -p herringbone-cli
"$venv/bin/python" tests/interop.py "${CARGO_TARGET_DIR:-target}/debug/herringbone"
