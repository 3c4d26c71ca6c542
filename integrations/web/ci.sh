#!/usr/bin/env bash
# Builds the package for browsers, and tests it in node and in Chromium.
set -euo pipefail
cd "$(dirname "$0")"
target="${CARGO_TARGET_DIR:-$PWD/../../target}"
export CARGO_TARGET_DIR="$target" CARGO_INCREMENTAL=0

if ! [ -d "$(rustc --print target-libdir --target wasm32-unknown-unknown 2> /dev/null)" ]; then
    echo "skipped: rustup target add wasm32-unknown-unknown"
    exit 0
fi
if ! command -v node > /dev/null; then
    echo "skipped: node is not there"
    exit 0
fi
cargo fmt --all --check
cargo clippy --quiet --locked --workspace -- -D warnings
./build.sh
python="$(../../tests/scripts/venv.sh)"
if command -v mdbook > /dev/null; then
    ./site.py "$target/web/site"
else
    echo "skipped: the guides as a book: cargo install --locked mdbook"
fi
export PACKAGE="$target/web/package/index.js" SITE="$target/web/site" DATA="$target/web/data" SHOTS="$target/web/shots"
"$python" tests/data.py "$DATA"
node --test tests/package.test.mjs
rm -rf "$target/web/arrow"
node tests/arrow.mjs "$target/web/arrow"
"$python" tests/arrow.py "$target/web/arrow"
if command -v chromium chromium-browser google-chrome > /dev/null; then
    node --test tests/page.test.mjs
else
    echo "skipped: the page in a browser: apt-get install chromium"
fi
