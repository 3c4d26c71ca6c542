#!/usr/bin/env bash
# Type-checks the libraries and the command for platforms on which no test runs: tests/platforms.sh [TARGET...]
#
# This needs no linker and no C compiler of the platform: `true` takes the place of the latter. With Debian's mingw, the
# command is built for Windows.
set -euo pipefail
cd "$(dirname "$0")/.."

targets=("$@")
[ $# -gt 0 ] || targets=(x86_64-pc-windows-gnu aarch64-apple-darwin aarch64-unknown-linux-gnu)

for target in "${targets[@]}"; do
    if ! [ -d "$(rustc --print target-libdir --target "$target" 2> /dev/null)" ]; then
        echo "skipped: rustup target add $target"
    else
        # In a folder of its own: nothing may be linked with the output of `true`.
        TARGET_CC=true TARGET_CXX=true TARGET_AR=true cargo check --quiet -p herringbone-cli --target "$target" \
            --target-dir "${CARGO_TARGET_DIR:-target}/platforms"
        echo "type-checked: $target"
    fi
    [ "$target" = x86_64-pc-windows-gnu ] || continue
    if ! command -v x86_64-w64-mingw32-gcc > /dev/null; then
        echo "skipped: the command for Windows needs gcc-mingw-w64-x86-64"
    elif [ -d "$(rustc --print target-libdir --target "$target" 2> /dev/null)" ]; then
        cargo build --quiet -p herringbone-cli --target "$target"
        echo "built: the command for $target"
    fi
done
