#!/usr/bin/env bash
# The checks of this workspace. Prints `skipped` if its files and the public API of the library are those of the last
# commit that passed. Takes five minutes on two cores.
set -euo pipefail
cd "$(dirname "$0")"
. ../unchanged.sh delta integrations/delta docs/delta.md 'crates/*/public-api.txt'

cargo fmt --check
# The kernel depends on `parquet`. Nothing else does, and nothing here uses it, except as the oracle of the tests.
if cargo tree -e normal --prefix none --depth 1 | grep '^parquet v' || grep -rn 'parquet::arrow\|parquet::file' src; then
    echo "the library must not use the crate parquet"
    exit 1
fi
if cargo tree -e normal --prefix none | grep '^arrow-array v60'; then
    echo "the library must not depend on arrow 60"
    exit 1
fi
cargo clippy --quiet --all-targets -- -D warnings
cargo test --quiet
pass
