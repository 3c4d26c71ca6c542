#!/usr/bin/env bash
# The checks of this workspace. Prints `skipped` if its files and the public API of the library are those of the last
# commit that passed. Takes about 25 minutes on two cores.
set -euo pipefail
cd "$(dirname "$0")"
. ../unchanged.sh datafusion integrations/datafusion 'crates/*/public-api.txt'

cargo fmt --check
# The engine's Parquet reader is the oracle of the tests. It is not a part of the library.
for other in 'parquet v' 'arrow-array v60'; do
    if cargo tree -e normal --prefix none | grep "^$other"; then
        echo "the library must not depend on $other"
        exit 1
    fi
done
cargo clippy --quiet --workspace --all-targets -- -D warnings
cargo clippy --quiet --no-default-features -- -D warnings
# `integrations/ballista` has the tests of the codec.
cargo clippy --quiet --no-default-features --features proto -- -D warnings
cargo test --quiet
pass
