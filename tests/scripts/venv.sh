#!/bin/sh
# Makes the Python environment of the peers below .venv, once, and prints its interpreter.
set -eu
cd "$(dirname "$0")/../.."
if ! cmp -s tests/scripts/requirements.txt .venv/requirements.txt; then
    python3 -m venv --clear .venv >&2
    .venv/bin/pip install --quiet --disable-pip-version-check -r tests/scripts/requirements.txt >&2
    cp tests/scripts/requirements.txt .venv/requirements.txt
fi
echo "$PWD/.venv/bin/python"
