#!/usr/bin/env bash
# Prints the formula of Homebrew: tests/release/formula.sh SHA256SUMS. The file has the checksums of the archives of this version, and
# the template is herringbone.rb.in.
set -euo pipefail
cd "$(dirname "$0")/../.."

sums="$1"
version="$(sed -n 's/^version = "\(.*\)"$/\1/p' Cargo.toml)"
address="$(sed -n 's/^repository = "\(.*\)"$/\1/p' Cargo.toml)"
formula="$(sed -e "s|@VERSION@|$version|g" -e "s|@ADDRESS@|$address|g" tests/release/herringbone.rb.in)"
for target in $(grep -o '@SHA256 [a-z0-9_-]*@' <<< "$formula" | cut -d ' ' -f 2 | tr -d @); do
    name="herringbone-$version-$target.tar.gz"
    sum="$(sed -n "s/^\([0-9a-f]\{64\}\) [ *]$name\$/\1/p" "$sums")"
    [ -n "$sum" ] || { echo "$sums has no checksum of $name" >&2; exit 1; }
    formula="${formula//@SHA256 $target@/$sum}"
done
echo "$formula"
