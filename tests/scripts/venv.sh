#!/bin/sh
# Makes a Python environment of peers, unless it is there, and prints its interpreter: venv.sh [REQUIREMENTS FOLDER]
set -eu
cd "$(dirname "$0")/../.."
requirements="${1:-tests/scripts/requirements.txt}"
venv="${2:-$PWD/.venv}"
if ! cmp -s "$requirements" "$venv/requirements.txt"; then
    python3 -m venv "$venv" >&2
    "$venv/bin/pip" install --quiet --disable-pip-version-check -r "$requirements" >&2
    cp "$requirements" "$venv/requirements.txt"
fi
echo "$venv/bin/python"
