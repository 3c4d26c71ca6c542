#!/usr/bin/env bash
# Runs tests for aarch64, emulated, because NEON is compiled and tested nowhere else without such a machine:
# tests/aarch64.sh [--all] [FILTER...]
#
# These are the tests of the kernels and of the core, those of the official files, and `cat` of the examples. `--all` adds the
# tests of filter, read and write, and all of the suite of reads, which take long. On a machine with such a processor, `cargo
# test` does the same.
set -euo pipefail
cd "$(dirname "$0")/.."

all=false
if [ "${1:-}" = --all ]; then
    all=true
    shift
fi
target=aarch64-unknown-linux-gnu
emulator="$(command -v qemu-aarch64-static || command -v qemu-aarch64 || true)"
if [ -z "$emulator" ] || ! command -v aarch64-linux-gnu-gcc > /dev/null \
    || ! rustc --print target-libdir --target "$target" | xargs test -d; then
    echo "skipped: this needs QEMU's user emulation (qemu-user or qemu-user-static), a linker and C compiler"
    echo "(gcc-aarch64-linux-gnu, libc6-dev-arm64-cross) and \`rustup target add $target\`"
    exit 0
fi

export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc
export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER="$emulator -L /usr/aarch64-linux-gnu"
# Emulated code without any optimisation takes all day.
export CARGO_PROFILE_DEV_OPT_LEVEL=1 CARGO_PROFILE_DEV_DEBUG=0

cargo test --quiet --target "$target" -p herringbone-kernels -p herringbone-core --lib -- "$@"
if "$all"; then
    HERRINGBONE_SIMD=scalar cargo test --quiet --target "$target" -p herringbone-kernels --lib -- "$@"
    cargo test --quiet --target "$target" -p herringbone-filter -p herringbone-read -p herringbone-write --lib -- "$@"
    # Those tests start their own program again, which the system cannot without the emulator.
    cargo test --quiet --target "$target" -p herringbone-read-tests -- --skip memory::lies "$@"
else
    cargo test --quiet --target "$target" -p herringbone-read-tests -- official:: "$@"
fi

cargo build --quiet --target "$target" -p herringbone-cli
command=("$emulator" -L /usr/aarch64-linux-gnu "${CARGO_TARGET_DIR:-target}/$target/debug/herringbone")
# The example's JSON file has what pyarrow reads.
"${command[@]}" cat --json testdata/example.parquet | python3 -c '
import json, sys
rows = [json.loads(line) for line in sys.stdin]
for column in json.load(open("testdata/example.json"))["columns"]:
    assert [row[column["name"]] for row in rows] == column["values"], column["name"]
'
files=0
for file in testdata/example.parquet testdata/duckdb/*.parquet; do
    vectors="$("${command[@]}" cat --json "$file")"
    portable="$(HERRINGBONE_SIMD=scalar "${command[@]}" cat --json "$file")"
    [ "$vectors" = "$portable" ] || { echo "failed: NEON and portable code read different rows of $file"; exit 1; }
    files=$((files + 1))
done
echo "the command reads $files examples"
