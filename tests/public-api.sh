#!/usr/bin/env bash
# Compares the public API of the libraries with the checked-in lists, crates/NAME/public-api.txt:
# tests/public-api.sh [--update]
#
# A list has one line an item, made of the JSON that rustdoc of a nightly toolchain writes. What users
# would have to change is seen in its difference; `--update` writes the lists anew.
set -euo pipefail
cd "$(dirname "$0")/.."

crates=(herringbone inspect remote dataset variant geospatial encryption rewrite)
# Crates that `herringbone` exports items of.
exported=(core filter format pipeline read schema sort write)

for tool in "cargo +nightly" python3; do
    if ! $tool --version > /dev/null 2>&1; then
        echo "skipped: the list of the public API needs $tool"
        exit 0
    fi
done

names=()
for crate in "${crates[@]}" "${exported[@]}"; do
    names+=("herringbone-$crate")
done
names=("${names[@]/herringbone-herringbone/herringbone}")
# Builds of the stable toolchain stay as they are.
target="${CARGO_TARGET_DIR:-target}/public-api"
document() {
    RUSTDOCFLAGS="-Z unstable-options --output-format json" CARGO_TARGET_DIR="$target" \
        cargo +nightly doc --quiet --no-deps --lib "${@/#/--package=}"
}
# `rewrite` and `dataset` turn features of `herringbone` on, which are not in the list of that crate.
document herringbone-rewrite herringbone-dataset
others=("${names[@]/herringbone-rewrite/herringbone}")
document "${others[@]/herringbone-dataset/herringbone}"

differs=0
for crate in "${crates[@]}"; do
    name="herringbone_$crate"
    list="crates/$crate/public-api.txt"
    if [ "${1:-}" = --update ]; then
        python3 tests/public_api.py "$target/doc" "${name/herringbone_herringbone/herringbone}" > "$list"
    elif ! diff -u "$list" <(python3 tests/public_api.py "$target/doc" "${name/herringbone_herringbone/herringbone}"); then
        differs=1
    fi
done
if [ "$differs" -ne 0 ]; then
    echo "The public API is not what its lists say. If that is meant, run tests/public-api.sh --update, and say in"
    echo "CHANGELOG.md what users have to change."
    exit 1
fi
