#!/usr/bin/env bash
# Packages the crates to be published, as `cargo publish` does, and checks their metadata and files: tests/packages.sh [--build].
#
# `--build` also unpacks the archives, checks each of them from the others alone, in the order in which they are published, and
# runs the README's program against them.
set -euo pipefail
cd "$(dirname "$0")/.."

target="${CARGO_TARGET_DIR:-target}/packages"
log="$target/log"
rm -rf "$target"
mkdir -p "$target"

# Prints `exclude NAME` for each crate with `publish = false`, and what the others lack.
check='
import json, sys
for package in json.load(sys.stdin)["packages"]:
    if package["publish"] == []:
        print("exclude", package["name"])
        continue
    for key in ("description", "license", "repository", "readme", "rust_version", "keywords", "categories"):
        if not package[key]:
            print("lacks", package["name"], key)
    # Internal crates may change in any release.
    for dependency in package["dependencies"]:
        if dependency.get("path") and dependency["kind"] != "dev" and dependency["req"] != "=" + package["version"]:
            print("lacks", package["name"], "the exact version of", dependency["name"])
'
metadata="$(cargo metadata --quiet --no-deps --format-version 1 | python3 -c "$check")"
if grep '^lacks' <<< "$metadata"; then exit 1; fi
mapfile -t excluded < <(sed -n 's/^exclude /--exclude=/p' <<< "$metadata")

package() {
    cargo package "$@" --workspace "${excluded[@]}" --no-verify --allow-dirty --target-dir "$target" > "$log" 2>&1
}
# The index of crates.io is asked only if the copy on this machine is not enough.
package --offline || package || { cat "$log"; exit 1; }
# Tests and benchmarks are left out of the packages.
if grep '^warning' "$log" | grep -vE 'ignoring (test|benchmark) '; then exit 1; fi

for file in "$target"/package/*.crate; do
    names="$(tar -tzf "$file" | cut -d/ -f2-)"
    for name in LICENSE README.md; do
        grep -qx "$name" <<< "$names" || { echo "$file lacks $name"; exit 1; }
    done
    # The registry resolves relative links against the folder of the crate, and has no other file of it.
    if tar -xOf "$file" --wildcards '*/README.md' | grep -oE '\]\([^)]*\)' | grep -vE '^\]\((https://|#)'; then
        echo "the README of $file has the relative links above, which are dead on the page of the crate"
        exit 1
    fi
    if grep -E '^(public-api\.txt|tests/|benches/)' <<< "$names"; then
        echo "$file has the files above, which users do not need"
        exit 1
    fi
done
echo "$(ls "$target"/package/*.crate | wc -l) packages, $(du -ch "$target"/package/*.crate | tail -n 1 | cut -f1)"

[ "${1:-}" = --build ] || exit 0
alone="$(cd "$target" && pwd)/alone"
mkdir -p "$alone/.cargo"
for file in "$target"/package/*.crate; do tar -xzf "$file" -C "$alone"; done
mapfile -t ordered < <(sed -n 's/^ *Packaging \([^ ]*\) v\([^ ]*\).*/\1-\2/p' "$log")
[ "${#ordered[@]}" = "$(ls "$target"/package/*.crate | wc -l)" ] || { echo "$log does not name each package"; exit 1; }
# The registry does not have them yet.
{
    echo "[patch.crates-io]"
    for name in "${ordered[@]}"; do echo "${name%-*} = { path = \"$alone/$name\" }"; done
} > "$alone/.cargo/config.toml"
check() {
    # The versions of all other crates are those that we test.
    cp Cargo.lock "$1/Cargo.lock"
    (cd "$1" && CARGO_TARGET_DIR="$alone/target" cargo "${@:2}")
}
for name in "${ordered[@]}"; do
    check "$alone/$name" check --quiet
    echo "built from archives: $name"
done
mkdir -p "$alone/program/src"
cat > "$alone/program/Cargo.toml" << END
[package]
name = "program"
edition = "2024"
[dependencies]
herringbone = "0.1"
END
cp crates/herringbone/examples/readme.rs "$alone/program/src/main.rs"
cp -r testdata "$alone/program/"
check "$alone/program" run --quiet
echo "the README's program ran"
