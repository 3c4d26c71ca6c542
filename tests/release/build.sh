#!/usr/bin/env bash
# Builds the command and `herringbone-sql` for this machine, stripped: tests/release/build.sh FOLDER. FOLDER gets both programs.
set -euo pipefail
cd "$(dirname "$0")/../.."

folder="$1"
target="${CARGO_TARGET_DIR:-$PWD/target}/release-build"
mkdir -p "$folder"
export CARGO_PROFILE_RELEASE_STRIP=symbols CARGO_INCREMENTAL=0
cargo build --release --locked -p herringbone-command --target-dir "$target/command"
cargo build --release --locked --manifest-path integrations/Cargo.toml -p herringbone-ballista --bin herringbone-sql \
    --target-dir "$target/sql"
for program in command/release/herringbone sql/release/herringbone-sql; do
    for file in "$target/$program" "$target/$program.exe"; do
        [ ! -f "$file" ] || cp "$file" "$folder/"
    done
done
ls -l "$folder"
