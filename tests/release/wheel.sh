#!/bin/sh
# Installs the wheel in integrations/python/dist in an environment of its own, and runs the tests that need no other package:
# tests/release/wheel.sh PYTHON. It needs no bash, which images with musl lack.
set -eu
cd "$(dirname "$0")/../.."

folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
"$1" -m venv "$folder"
python="$folder/bin/python"
[ -f "$python" ] || python="$folder/Scripts/python.exe"
"$python" -m pip install --quiet pytest integrations/python/dist/*.whl
"$python" -m pytest -q -p no:cacheprovider integrations/python/tests/test_alone.py integrations/python/tests/test_package.py
