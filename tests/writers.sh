#!/usr/bin/env bash
# Reads files of many versions of writers, and lets the oldest version of each read ours. HB names the command.
#
#   tests/writers.sh [--all] [--only NAME] [--seconds N] [-v]
set -euo pipefail
cd "$(dirname "$0")/.."

if [ -z "${HB:-}" ]; then
    cargo build --quiet -p herringbone-cli
    export HB="${CARGO_TARGET_DIR:-target}/debug/herringbone"
fi
python3 tests/writers/matrix.py --seconds 180 "$@"
