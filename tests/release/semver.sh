#!/usr/bin/env bash
# Fails if the lists of the public API lost or changed items since the last release, and the version does not allow that.
set -euo pipefail
cd "$(dirname "$0")/../.."

tag="$(git describe --tags --abbrev=0 --match 'v[0-9]*' 2> /dev/null)" || { echo "no release yet to compare with"; exit 0; }
version="$(sed -n 's/^version = "\(.*\)"$/\1/p' Cargo.toml)"
# The part of a version that has to change with the API: 0.1 of 0.1.2, and 3 of 3.1.2.
breaking() { sed -E 's/^(0\.[0-9]+|[1-9][0-9]*).*/\1/' <<< "$1"; }
lost="$(git diff "$tag" -- 'crates/*/public-api.txt' | grep '^-[^-]' || true)"
if [ -n "$lost" ] && [ "$(breaking "${tag#v}")" = "$(breaking "$version")" ]; then
    echo "$lost"
    echo "These items changed or are gone since $tag, and version $version promises to keep them. docs/features.md has the policy."
    exit 1
fi
echo "the API keeps what $tag promised, or version $version may break it"
