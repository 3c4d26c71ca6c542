#!/usr/bin/env bash
# The checks of this workspace. Prints `skipped` if its files, those of `integrations/datafusion` and the public API of the
# library are those of the last commit that passed.
set -euo pipefail
cd "$(dirname "$0")"
root="$(git rev-parse --show-toplevel)"
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$root/target}/ballista"
export CARGO_INCREMENTAL=0 CARGO_PROFILE_DEV_DEBUG=none CARGO_TERM_COLOR=never

inputs=("$root/integrations/ballista" "$root/integrations/datafusion" "$root/crates/*/public-api.txt")
passed="$CARGO_TARGET_DIR/passed"
# `git diff` of a commit includes changes that are not committed, and no new files.
if [ -f "$passed" ] && git cat-file -e "$(cat "$passed")" 2> /dev/null &&
    git diff --quiet "$(cat "$passed")" -- "${inputs[@]}" &&
    [ -z "$(git status --porcelain -- "${inputs[@]}")" ]; then
    echo skipped
    exit
fi

cargo fmt --check
# Tests are built first: clippy finds their dependencies compiled only in part.
TPCH_SCALE=0.1 cargo test --quiet
cargo clippy --quiet --all-targets -- -D warnings
git rev-parse HEAD > "$passed"
