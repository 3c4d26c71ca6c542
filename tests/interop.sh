#!/usr/bin/env bash
# Compares what the command reads and writes with pyarrow, duckdb and polars, in a Python environment of its own.
set -euo pipefail
cd "$(dirname "$0")/.."

venv="${HERRINGBONE_VENV:-target/interop-venv}"
if [ ! -x "$venv/bin/python" ]; then
    python3 -m venv "$venv"
    "$venv/bin/pip" install --quiet --disable-pip-version-check pyarrow numpy pandas duckdb polars
fi
cargo build --quiet -p herringbone-cli
command="${CARGO_TARGET_DIR:-target}/debug/herringbone"
"$venv/bin/python" tests/interop.py "$command"
"$venv/bin/python" tests/interop_write.py "$command"
"$venv/bin/python" tests/interop_text.py "$command"
