#!/usr/bin/env bash
# Compares what the command reads and writes with pyarrow, duckdb, polars and DataFusion, in a Python environment of its own.
set -euo pipefail
cd "$(dirname "$0")/.."

python="$(tests/scripts/venv.sh tests/interop-requirements.txt "${HERRINGBONE_VENV:-target/interop-venv}")"
cargo build --quiet -p herringbone-cli
cargo build --quiet -p herringbone-encryption --example key_tools
command="${CARGO_TARGET_DIR:-target}/debug/herringbone"
"$python" tests/interop.py "$command"
"$python" tests/interop_write.py "$command"
"$python" tests/interop_types.py "$command"
"$python" tests/interop_rewrite.py "$command"
"$python" tests/interop_repair.py "$command" --tables 12
key_tools="${CARGO_TARGET_DIR:-target}/debug/examples/key_tools"
# All kinds of encryption take minutes; what is run here comes across each choice, if not across each combination.
"$python" tests/interop_encryption.py "$command" --every 23
"$python" tests/interop_encryption_keys.py "$key_tools" --every 9
if command -v javac >/dev/null && "$python" -c "import pyspark" 2>/dev/null; then
    "$python" tests/interop_encryption_java.py "$command" "$key_tools" --every 121
else
    echo "skipped: encryption with parquet-java, which takes pyspark and a JDK"
fi
cargo build --quiet -p herringbone-dataset --examples
"$python" tests/interop_dataset.py "${CARGO_TARGET_DIR:-target}/debug/examples"
"$python" tests/interop_text.py "$command"
"$python" tests/interop_where.py "$command"
"$python" tests/interop_variant.py "$command"
"$python" tests/interop_geospatial.py "$command"
