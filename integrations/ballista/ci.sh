#!/usr/bin/env bash
# The checks of this workspace. Prints `skipped` if its files, those of `integrations/datafusion` and the public API of the
# library are those of the last commit that passed.
set -euo pipefail
cd "$(dirname "$0")"
. ../unchanged.sh ballista integrations/ballista integrations/datafusion 'crates/*/public-api.txt'

cargo fmt --check
# Tests are built first: clippy finds their dependencies compiled only in part.
TPCH_SCALE=0.1 cargo test --quiet
cargo clippy --quiet --all-targets -- -D warnings
pass
