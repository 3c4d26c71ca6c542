#!/usr/bin/env bash
# Checks licences, sources, duplicates and advisories of all dependencies by `cargo deny`, in each workspace. The database of
# advisories is downloaded; `tests/release/deny.sh licenses bans sources` does without it.
set -euo pipefail
cd "$(dirname "$0")/../.."

# `cargo deny` does not find a manifest without a folder.
for manifest in ./Cargo.toml integrations/Cargo.toml integrations/c/Cargo.toml integrations/python/Cargo.toml integrations/web/Cargo.toml; do
    echo "== $manifest"
    cargo deny --locked --manifest-path "$manifest" check --config "$PWD/deny.toml" "$@"
done
