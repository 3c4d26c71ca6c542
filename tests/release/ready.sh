#!/usr/bin/env bash
# Fails if the tree does not name the release of this tag: tests/release/ready.sh TAG.
set -euo pipefail
cd "$(dirname "$0")/../.."

tag="$1"
version="$(sed -n 's/^version = "\(.*\)"$/\1/p' Cargo.toml)"
fail() { echo "$1"; exit 1; }
[ "$tag" = "v$version" ] || fail "the tag is $tag, and Cargo.toml has version $version: expected the tag v$version"
grep -qE "^## $version, [0-9]{4}-[0-9]{2}-[0-9]{2}$" CHANGELOG.md ||
    fail "CHANGELOG.md has no heading '## $version, YYYY-MM-DD' with the day of the release"
for manifest in integrations/{ballista,c/check,c/lib,datafusion,delta,python,web/lib}/Cargo.toml; do
    grep -qx "version = \"$version\"" "$manifest" || fail "$manifest has another version than Cargo.toml, $version"
done
grep -qx "  \"version\": \"$version\"," integrations/web/package/package.json ||
    fail "integrations/web/package/package.json has another version than Cargo.toml, $version"
if grep -q '^# To be confirmed by the owner' Cargo.toml; then
    fail "Cargo.toml: repository is not confirmed. Remove that comment, and run tests/addresses.py --update"
fi
tests/addresses.py
echo "ready: $tag"
