#!/usr/bin/env bash
# Breaks the lines that a submission changed, one at a time, and prints those whose break no test of their own crate notices:
# tests/mutants.sh [BASE]
#
# BASE is the commit before the submission, by default that of `.ci/plan.py`. A line that stays may need a test, or not: some breaks
# change nothing. Therefore this never fails. It stops after HERRINGBONE_MUTANTS_SECONDS, 280 by default.
set -euo pipefail
cd "$(dirname "$0")/.."

if ! cargo mutants --version > /dev/null 2>&1; then
    echo "skipped: this needs cargo-mutants (cargo install cargo-mutants --locked)"
    exit 0
fi
base="${1:-$(.ci/plan.py --show-base)}"
if [ -z "$base" ]; then
    echo "skipped: no commit precedes this submission"
    exit 0
fi

# Only a copy of the tree is broken, so that the tree stays intact if time runs out. Both share the built dependencies.
target="$(realpath -m "${CARGO_TARGET_DIR:-target}")"
folder="$target/mutants"
git worktree remove --force "$folder/tree" 2> /dev/null || true
rm -rf "$folder"
mkdir -p "$folder"
git worktree add --quiet --detach "$folder/tree" HEAD
trap 'git worktree remove --force "$folder/tree"' EXIT
git diff "$base" HEAD -- ':(glob)crates/*/src/**' > "$folder/diff"
if [ ! -s "$folder/diff" ]; then
    echo "skipped: the submission changes no code of a crate"
    exit 0
fi

status=0
CARGO_TARGET_DIR="$target" RUST_BACKTRACE=0 timeout --signal INT --kill-after 10 "${HERRINGBONE_MUTANTS_SECONDS:-280}" \
    cargo mutants --dir "$folder/tree" --in-place --in-diff "$folder/diff" --output "$folder" \
    --baseline skip --timeout 60 --colors never --no-times -- --tests || status="$?"
for kind in missed timeout; do
    [ ! -s "$folder/mutants.out/$kind.txt" ] || sed "s/^/$kind: /" "$folder/mutants.out/$kind.txt"
done
echo "$(cat "$folder/mutants.out/caught.txt" 2> /dev/null | wc -l) caught, \
$(cat "$folder/mutants.out/missed.txt" 2> /dev/null | wc -l) missed"
[ "$status" -ne 124 ] || echo "not all were tried: HERRINGBONE_MUTANTS_SECONDS gives more time"
