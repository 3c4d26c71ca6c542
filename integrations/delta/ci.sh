#!/usr/bin/env bash
# The checks of this workspace. Prints `skipped` if its files and the public API of the library are those of the last
# commit that passed. Takes five minutes on two cores.
set -euo pipefail
cd "$(dirname "$0")"
root="$(git rev-parse --show-toplevel)"
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$root/target}/delta"
export CARGO_INCREMENTAL=0 CARGO_PROFILE_DEV_DEBUG=none CARGO_TERM_COLOR=never

inputs=("$root/integrations/delta" "$root/docs/delta.md" "$root/crates/*/public-api.txt")
passed="$CARGO_TARGET_DIR/passed"
# `git diff` of a commit includes changes that are not committed, and no new files.
if [ -f "$passed" ] && git cat-file -e "$(cat "$passed")" 2> /dev/null &&
    git diff --quiet "$(cat "$passed")" -- "${inputs[@]}" &&
    [ -z "$(git status --porcelain -- "${inputs[@]}")" ]; then
    echo skipped
    exit
fi

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
git rev-parse HEAD > "$passed"
