#!/usr/bin/env bash
# Reads and writes S3 objects with the command, and reads one with the program of docs/remote.md, from moto_server on loopback, and compares them with pyarrow.
set -euo pipefail
cd "$(dirname "$0")/.."

requirements="$(mktemp)"
trap 'rm -f "$requirements"' EXIT
printf 'moto[server,s3]==5.2.5\nboto3\npyarrow==26.0.1\n' > "$requirements"
if ! python="$(tests/scripts/venv.sh "$requirements" "${HERRINGBONE_REMOTE_VENV:-${CARGO_TARGET_DIR:-target}/remote-venv}")"; then
    echo "skipped: the command and S3, because moto cannot be installed"
    exit 0
fi
cargo build --quiet -p herringbone-command
cargo build --quiet -p herringbone-remote --features blocking,urls --example s3
built="${CARGO_TARGET_DIR:-target}/debug"
"$python" tests/interop_command_remote.py "$built/herringbone" "$built/examples/s3"
