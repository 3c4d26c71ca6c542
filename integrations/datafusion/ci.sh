#!/usr/bin/env bash
# The checks of this workspace. Prints `skipped` if its files and the public API of the library are those of the last
# commit that passed. Takes about 25 minutes on two cores.
set -euo pipefail
cd "$(dirname "$0")"
root="$(git rev-parse --show-toplevel)"
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$root/target}/datafusion"
export CARGO_INCREMENTAL=0 CARGO_PROFILE_DEV_DEBUG=none CARGO_TERM_COLOR=never

inputs=("$root/integrations/datafusion" "$root/crates/*/public-api.txt")
passed="$CARGO_TARGET_DIR/passed"
# `git diff` of a commit includes changes that are not committed, and no new files.
if [ -f "$passed" ] && git cat-file -e "$(cat "$passed")" 2> /dev/null &&
    git diff --quiet "$(cat "$passed")" -- "${inputs[@]}" &&
    [ -z "$(git status --porcelain -- "${inputs[@]}")" ]; then
    echo skipped
    exit
fi

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
git rev-parse HEAD > "$passed"
