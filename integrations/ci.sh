#!/usr/bin/env bash
# The checks of the engines: integrations/ci.sh [quick]
#
# The quick half has the tests of scans, filters, joins, COPY and Delta tables. It takes five minutes on two cores, from
# nothing. The rest: all of TPC-H, ClickBench, random predicates, the engine's own test files, and Ballista, which starts a
# scheduler and executors on loopback.
set -euo pipefail
cd "$(dirname "$0")"
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$PWD/../target}/engines"
export CARGO_INCREMENTAL=0 CARGO_PROFILE_DEV_DEBUG=none CARGO_TERM_COLOR=never

cargo fmt --all --check
# Lists what a library is built of.
built_of() { cargo tree --edges normal --prefix none "$@"; }
# The `parquet` crate is the oracle of the tests. It is not a part of the libraries. The Delta kernel depends on it, and
# nothing else does.
refuse() {
    if grep "$1"; then
        echo "the library must not depend on it"
        exit 1
    fi
}
built_of -p herringbone-datafusion | refuse '^parquet v\|^arrow-array v60'
built_of -p herringbone-delta --depth 1 | refuse '^parquet v'
built_of -p herringbone-delta | refuse '^arrow-array v60'
{ grep -rn 'parquet::arrow\|parquet::file' delta/src || true; } | refuse .

if [ "${1:-}" = quick ]; then
    cargo test --quiet -p herringbone-datafusion -p herringbone-delta -- --skip tpch:: --skip clickbench:: --skip random::
    exit
fi
TPCH_SCALE="${TPCH_SCALE:-0.1}" cargo test --quiet --workspace --exclude herringbone-datafusion-bench
cargo clippy --quiet --workspace --all-targets -- -D warnings
# The tests of the codec are those of Ballista.
cargo clippy --quiet -p herringbone-datafusion --no-default-features -- -D warnings
cargo clippy --quiet -p herringbone-datafusion --no-default-features --features proto -- -D warnings
