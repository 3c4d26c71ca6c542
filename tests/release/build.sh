#!/usr/bin/env bash
# Builds the command and `herringbone-sql`, stripped: tests/release/build.sh FOLDER [TARGET]. FOLDER gets both programs. They are for
# this machine, or for a TARGET whose C compiler and linker the environment names.
set -euo pipefail
cd "$(dirname "$0")/../.."

folder="$1"
target="${CARGO_TARGET_DIR:-$PWD/target}/release-build"
mkdir -p "$folder"
export CARGO_PROFILE_RELEASE_STRIP=symbols CARGO_INCREMENTAL=0
for_target=(${2:+--target "$2"})
cargo build --profile dist --locked -p herringbone-command --target-dir "$target/command" "${for_target[@]}"
cargo build --release --locked --manifest-path integrations/Cargo.toml -p herringbone-ballista --bin herringbone-sql \
    --target-dir "$target/sql" "${for_target[@]}"
for program in "command/${2:-}/dist/herringbone" "sql/${2:-}/release/herringbone-sql"; do
    for file in "$target/$program" "$target/$program.exe"; do
        [ ! -f "$file" ] || cp "$file" "$folder/"
    done
done
ls -l "$folder"
