#!/usr/bin/env bash
# Builds the library for WebAssembly, without a C compiler, and reads a file with it in node.
set -euo pipefail
cd "$(dirname "$0")/.."

target=wasm32-unknown-unknown
if ! [ -d "$(rustc --print target-libdir --target "$target" 2>/dev/null)" ]; then
    echo "skipped: rustup target add $target"
    exit 0
fi
if ! command -v node >/dev/null; then
    echo "skipped: node is not there"
    exit 0
fi
# Where something of C were left, this would be its compiler.
CC=false AR=false cargo build --quiet -p herringbone-wasm-tests --target "$target"
node tests/wasm/read.mjs \
    "${CARGO_TARGET_DIR:-target}/$target/debug/herringbone_wasm_tests.wasm" testdata/example.parquet
