#!/usr/bin/env bash
# Runs the tests of the kernels, of the core and of the reader for aarch64, emulated, which is where NEON
# is tested without such a machine: tests/aarch64.sh [FILTER...]
#
# Emulated, they take long. On a machine with such a processor, `cargo test` does the same.
set -euo pipefail
cd "$(dirname "$0")/.."

target=aarch64-unknown-linux-gnu
emulator="$(command -v qemu-aarch64-static || command -v qemu-aarch64 || true)"
if [ -z "$emulator" ] || ! command -v aarch64-linux-gnu-gcc > /dev/null \
    || ! rustc --print target-libdir --target "$target" | xargs test -d; then
    echo "skipped: this needs QEMU's user emulation (qemu-user-static), a linker and C compiler"
    echo "(gcc-aarch64-linux-gnu, libc6-dev-arm64-cross) and \`rustup target add $target\`"
    exit 0
fi

export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc
export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER="$emulator -L /usr/aarch64-linux-gnu"
# Emulated code without any optimisation takes all day.
export CARGO_PROFILE_DEV_OPT_LEVEL=1 CARGO_PROFILE_DEV_DEBUG=0
cargo test --quiet --target "$target" -p herringbone-kernels -p herringbone-core -p herringbone-filter -p herringbone-read \
    -p herringbone-write --lib -- "$@"
# Those tests start their own program again, which the system cannot without the emulator.
cargo test --quiet --target "$target" -p herringbone-read-tests -- --skip memory::lies "$@"
