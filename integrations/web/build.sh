#!/usr/bin/env bash
# Builds the package and the page with it: integrations/web/build.sh. They are in target/web, as `package` and `site`.
set -euo pipefail
cd "$(dirname "$0")"
target="${CARGO_TARGET_DIR:-$PWD/../../target}"
export CARGO_TARGET_DIR="$target" CARGO_INCREMENTAL=0
out="$target/web"
triple=wasm32-unknown-unknown

cargo build --quiet --locked --release --target "$triple" -p herringbone-web
rm -rf "$out/package" "$out/site"
mkdir -p "$out/package" "$out/site"
cp package/* "$out/package/"
cargo run --quiet --locked -p herringbone-web-bind -- "$target/$triple/release/herringbone_web.wasm" "$out/package"
cp ../../LICENSE "$out/package/"
python3 ../../tests/release/notices.py Cargo.toml herringbone-web > "$out/package/THIRD_PARTY_NOTICES"
cp page/* ../../testdata/example.parquet "$out/site/"
cp -r "$out/package" "$out/site/package"

bytes="$(cat "$out"/package/*.js "$out"/package/*.wasm | gzip -9 | wc -c)"
echo "the package has $bytes bytes with gzip"
[ "$bytes" -le 2500000 ] || { echo "it may have 2,500,000"; exit 1; }
